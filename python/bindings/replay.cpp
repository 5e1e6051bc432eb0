// SPDX-License-Identifier: Apache-2.0
// Exact replay of events on a plan's heap.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "arrays.hpp"
#include "heapfit/replay/replay.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

// One member of every sample as a numpy array.
Array<std::uint64_t> column(const ReplayResult &result, std::uint64_t ReplaySample::*member) {
    std::vector<std::uint64_t> values;
    for (const ReplaySample &sample : result.series) {
        values.push_back(sample.*member);
    }
    return to_array(std::move(values));
}

nb::typed<nb::dict, nb::str, Array<std::uint64_t>> series_of(const ReplayResult &result) {
    nb::dict series;
    series["event"] = column(result, &ReplaySample::event);
    series["live"] = column(result, &ReplaySample::live);
    series["footprint"] = column(result, &ReplaySample::footprint);
    series["internal"] = column(result, &ReplaySample::internal);
    series["external"] = column(result, &ReplaySample::external);
    return nb::borrow<nb::typed<nb::dict, nb::str, Array<std::uint64_t>>>(series);
}

std::optional<std::uint64_t> failed_event(const ReplayResult &result) {
    return result.failure ? std::optional(result.failure->event) : std::nullopt;
}

std::optional<Bytes> failed_size(const ReplayResult &result) {
    return result.failure ? std::optional(result.failure->size) : std::nullopt;
}

void make_replay(Replay *place, const Plan &plan, std::uint64_t region_size,
                 std::uint64_t base_alignment, std::size_t samples, std::uint64_t expected_events,
                 bool keep_going, bool keep_offsets, bool metered) {
    const Plan built = metered ? plan : plan.for_trials();
    new (place) Replay(HostHeap::init(built, {region_size, base_alignment}),
                       {samples, expected_events, keep_going, keep_offsets});
}

bool feed(Replay &replay, const EventArray &events, std::optional<std::size_t> first) {
    const nb::gil_scoped_release release;
    const std::span<const Event> all = events.events();
    return replay.feed(all.first(std::min(first.value_or(all.size()), all.size())));
}

constexpr std::array numbers = {
    &ReplayResult::events,        &ReplayResult::allocations,   &ReplayResult::frees,
    &ReplayResult::resizes,       &ReplayResult::live_peak,     &ReplayResult::footprint,
    &ReplayResult::loads,         &ReplayResult::stores,        &ReplayResult::payload,
    &ReplayResult::refusals,      &ReplayResult::internal_peak, &ReplayResult::external_peak,
    &ReplayResult::blocks_walked, &ReplayResult::placement_hash};
constexpr std::array sampled = {&ReplaySample::event, &ReplaySample::live, &ReplaySample::footprint,
                                &ReplaySample::internal, &ReplaySample::external};

// A result as it is pickled: its numbers | refusals told (0 or 1), event, size | the samples.
std::vector<std::uint64_t> packed(const ReplayResult &result) {
    std::vector<std::uint64_t> state;
    for (const auto member : numbers) {
        state.push_back(result.*member);
    }
    const Refusal failure = result.failure.value_or(Refusal{});
    state.insert(state.end(), {result.failure.has_value(), failure.event, failure.size});
    for (const ReplaySample &sample : result.series) {
        for (const auto member : sampled) {
            state.push_back(sample.*member);
        }
    }
    return state;
}

void unpack(ReplayResult *place, const std::vector<std::uint64_t> &state) {
    auto next = state.begin();
    const std::size_t least = numbers.size() + 3;
    if (state.size() < least || (state.size() - least) % sampled.size() != 0) {
        throw nb::value_error("not the state of a replay's result");
    }
    ReplayResult result{};
    for (const auto member : numbers) {
        result.*member = *next++;
    }
    if (*next++ != 0) {
        result.failure = Refusal{next[0], next[1]};
    }
    for (next += 2; next != state.end();) {
        ReplaySample &sample = result.series.emplace_back();
        for (const auto member : sampled) {
            sample.*member = *next++;
        }
    }
    new (place) ReplayResult(std::move(result));
}

Bytes largest_free(const Plan &plan, std::uint64_t region_size) {
    return sum_blocks(HostHeap::init(plan, {region_size})).largest_free;
}

void bind_result(nb::module_ &module) {
    nb::class_<BlockSums>(module, "BlockSums", "The blocks of a heap at one moment, in bytes.")
        .def_ro("used", &BlockSums::used, "That the callers may use, rounding included.")
        .def_ro("free", &BlockSums::free)
        .def_ro("largest_free", &BlockSums::largest_free)
        .def_ro("largest_hole", &BlockSums::largest_hole, "Of those within the footprint.");
    nb::class_<ReplayResult>(module, "ReplayResult", "What a replay measured; sizes in bytes.")
        .def_ro("events", &ReplayResult::events)
        .def_ro("allocations", &ReplayResult::allocations)
        .def_ro("frees", &ReplayResult::frees)
        .def_ro("resizes", &ReplayResult::resizes)
        .def_ro("live_peak", &ReplayResult::live_peak, "U_max of the events replayed.")
        .def_ro("footprint", &ReplayResult::footprint)
        .def_ro("loads", &ReplayResult::loads, "Metadata words loaded, without `init`.")
        .def_ro("stores", &ReplayResult::stores, "Metadata words stored, without `init`.")
        .def_ro("payload_bytes", &ReplayResult::payload, "Copied by resizes and zeroed.")
        .def_ro("refusals", &ReplayResult::refusals)
        .def_prop_ro("failed_event", &failed_event, "Number of the first refused event.")
        .def_prop_ro("failed_size", &failed_size)
        .def_ro("internal_peak", &ReplayResult::internal_peak)
        .def_ro("external_peak", &ReplayResult::external_peak)
        .def_ro("blocks_walked", &ReplayResult::blocks_walked,
                "Blocks looked at for the series, each time anew.")
        .def_prop_ro("series", &series_of,
                     "Arrays 'event', 'live', 'footprint', 'internal' and 'external'.")
        .def_ro("placement_hash", &ReplayResult::placement_hash,
                "FNV-1a, 64 bits, over the 32-bit offset of every block returned.")
        .def("__getstate__", &packed)
        .def("__setstate__", &unpack);
}

} // namespace

void bind_replay(nb::module_ &module) {
    bind_result(module);
    nb::class_<Replay>(module, "Replay", "Does a trace's events to a real heap and meters it.")
        .def("__init__", &make_replay, nb::arg("plan"), nb::arg("region_size"),
             nb::arg("base_alignment") = 0, nb::arg("samples") = 0, nb::arg("expected_events") = 0,
             nb::arg("keep_going") = false, nb::arg("keep_offsets") = false,
             nb::arg("metered") = true, "Not `metered`: twice as fast, no accesses are counted.")
        .def("feed", &feed, nb::arg("events"), nb::arg("first") = nb::none(),
             "False once a refusal ended the replay; of the `first` so many events alone.")
        .def("result", &Replay::result)
        .def("blocks", &Replay::blocks, "As they are now; linear in their number.")
        .def_prop_ro("live", &Replay::live, "Live bytes now, as requested.")
        .def_prop_ro("footprint", &Replay::footprint, "Bytes of the region used so far.")
        .def_prop_ro("reach", &Replay::reach,
                     "What it took of the region, where a larger one changes nothing; else 0.")
        .def_prop_ro(
            "offsets", [](const Replay &replay) { return to_array(replay.offsets()); },
            nb::rv_policy::move,
            "From the region's start, of the trace's lifetimes placed so far; empty unless kept.")
        .def_prop_ro(
            "refusals", [](const Replay &replay) { return to_array(replay.refusals()); },
            nb::rv_policy::move, "The events refused so far; empty unless it keeps going.");
    module.def("largest_free", &largest_free, nb::arg("plan"), nb::arg("region_size"),
               "Bytes of the largest free block of a heap in which nothing is live.");
}

} // namespace heapfit::bindings
