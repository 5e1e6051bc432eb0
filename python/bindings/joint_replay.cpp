// SPDX-License-Identifier: Apache-2.0
// Exact replay on several memories.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "heapfit/replay/joint_replay.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using PlanSizeBaseOffers = std::tuple<Plan, std::uint64_t, std::uint64_t, std::uint32_t>;
using SizeRoute = std::pair<std::uint64_t, hfit_route>;

using Routes = std::tuple<std::vector<SizeRoute>, std::vector<hfit_route>, hfit_route>;

void make_replay(JointReplay *place, const std::vector<PlanSizeBaseOffers> &memories,
                 const Routes &routes, bool keep_places) {
    std::vector<MemorySpec> specs;
    for (const auto &[plan, size, base, offers] : memories) {
        specs.push_back({plan.for_trials(), {size, base}, offers});
    }
    const auto &[by_size, by_tag, of_needs] = routes;
    MemoryRule rule{{}, by_tag, of_needs};
    for (const auto &[up_to, route] : by_size) {
        rule.by_size.push_back({up_to, route});
    }
    new (place) JointReplay(specs, std::move(rule), keep_places);
}

bool feed(JointReplay &replay, const EventArray &events, const Column<std::uint16_t> &requests) {
    const nb::gil_scoped_release release;
    return replay.feed(events.events(), as_span(requests));
}

} // namespace

void bind_joint_replay(nb::module_ &module) {
    nb::class_<MemoryShare>(module, "MemoryShare", "What a memory served; bytes as requested.")
        .def_ro("requests", &MemoryShare::requests, "Allocations, and resizes that ended there.")
        .def_ro("live_peak", &MemoryShare::live_peak)
        .def_ro("footprint", &MemoryShare::footprint)
        .def_ro("byte_events", &MemoryShare::byte_events,
                "The sum of its live bytes after each event.");
    nb::class_<JointReplay>(module, "JointReplay",
                            "Does a trace's events to several heaps, one in each memory.")
        .def("__init__", &make_replay, nb::arg("memories"), nb::arg("routes"),
             nb::arg("keep_places") = false,
             "Memories are (plan, bytes, base alignment, bits offered); routes, as in "
             "hfit/memories.h, by size, by tag, and of needs.")
        .def("feed", &feed, nb::arg("events"), nb::arg("requests"),
             "`requests`: bits needed << 8 | tag, of each event. False once a refusal ended it.")
        .def("shares", &JointReplay::shares, "Of each memory.")
        .def_prop_ro("failed_event",
                     [](const JointReplay &replay) {
                         return replay.failure() ? std::optional(replay.failure()->event)
                                                 : std::nullopt;
                     })
        .def_prop_ro(
            "numbers", [](const JointReplay &replay) { return to_array(replay.numbers()); },
            nb::rv_policy::move, "The memory of each request, if places are kept; 255: refused.")
        .def_prop_ro(
            "offsets", [](const JointReplay &replay) { return to_array(replay.offsets()); },
            nb::rv_policy::move, "From its memory's start.");
}

} // namespace heapfit::bindings
