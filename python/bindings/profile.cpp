// SPDX-License-Identifier: Apache-2.0
// The profile of a trace, and P_i(t) of chosen sizes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "heapfit/profile/group_troughs.hpp"
#include "heapfit/profile/live_changes.hpp"
#include "heapfit/profile/profile.hpp"
#include "heapfit/profile/size_series.hpp"
#include "heapfit/profile/u_max.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

// One member of every record as a numpy array.
template <typename Record>
Array<std::uint64_t> column(const std::vector<Record> &records, std::uint64_t Record::*member) {
    std::vector<std::uint64_t> values;
    for (const Record &record : records) {
        values.push_back(record.*member);
    }
    return to_array(std::move(values));
}

template <std::size_t size>
Array<std::uint64_t> copy(const std::array<std::uint64_t, size> &values) {
    return to_array(std::vector<std::uint64_t>(values.begin(), values.end()));
}

template <std::uint64_t SizeProfile::*member>
Array<std::uint64_t> sizes(const ProfileResult &result) {
    return column(result.sizes, member);
}

template <std::uint64_t Extremes::*member> Array<std::uint64_t> live(const ProfileResult &result) {
    return column(result.live_bytes, member);
}

// Lowest and highest of every bucket, for each size.
std::vector<std::tuple<Array<std::uint64_t>, Array<std::uint64_t>>>
blocks_of(const SizeSeriesResult &result) {
    std::vector<std::tuple<Array<std::uint64_t>, Array<std::uint64_t>>> blocks;
    for (const std::vector<Extremes> &series : result.blocks) {
        blocks.emplace_back(column(series, &Extremes::lowest), column(series, &Extremes::highest));
    }
    return blocks;
}

template <typename Pass> void feed(Pass &pass, const EventArray &events) {
    const nb::gil_scoped_release release;
    pass.feed(events.events());
}

Array<std::uint64_t> operations(const ProfileResult &result) {
    return copy(result.operations);
}

Array<std::uint64_t> lifetimes(const ProfileResult &result) {
    return copy(result.lifetimes.objects);
}

Array<std::uint64_t> lifetime_bytes(const ProfileResult &result) {
    return copy(result.lifetimes.bytes);
}

void bind_result(nb::module_ &module) {
    constexpr auto fresh = nb::rv_policy::move; // each access makes an array of its own
    nb::class_<ProfileResult>(module, "ProfileResult", "What a trace shows without an allocator.")
        .def_ro("events", &ProfileResult::events)
        .def_prop_ro("operations", &operations, fresh, "How many events of each op, by its number.")
        .def_ro("u_max", &ProfileResult::u_max, "Bytes.")
        .def_ro("u_max_event", &ProfileResult::u_max_event)
        .def_ro("live_blocks_max", &ProfileResult::live_blocks_max)
        .def_ro("never_freed", &ProfileResult::never_freed, "Objects.")
        .def_ro("never_freed_bytes", &ProfileResult::never_freed_bytes)
        .def_prop_ro("sizes", &sizes<&SizeProfile::size>, fresh, "Ascending, no two equal.")
        .def_prop_ro("allocations", &sizes<&SizeProfile::allocations>, fresh, "Of each size.")
        .def_prop_ro("peaks", &sizes<&SizeProfile::peak>, fresh, "P_i,max of each size.")
        .def_ro("is_coarse", &ProfileResult::is_coarse,
                "Sizes beyond the first million are counted as 16 an octave.")
        .def_prop_ro("lifetimes", &lifetimes, fresh,
                     "Freed objects that lived 2^b to 2^(b+1) - 1 events, by b.")
        .def_prop_ro("lifetime_bytes", &lifetime_bytes, fresh)
        .def_ro("bucket_width", &ProfileResult::bucket_width, "Events of each point of a series.")
        .def_prop_ro("live_lowest", &live<&Extremes::lowest>, fresh,
                     "Lowest live bytes of each bucket.")
        .def_prop_ro("live_highest", &live<&Extremes::highest>, fresh);
}

LiveChangeColumns changes_of(LiveChanges &changes, const EventArray &events) {
    const nb::gil_scoped_release release;
    return changes.feed(events.events());
}

template <std::vector<std::uint64_t> LiveChangeColumns::*member>
Array<std::uint64_t> handed_over(LiveChangeColumns &columns) {
    return to_array(std::move(columns.*member));
}

void bind_live_changes(nb::module_ &module) {
    using Columns = LiveChangeColumns;
    constexpr auto fresh = nb::rv_policy::move;
    nb::class_<Columns>(module, "LiveChangeColumns",
                        "A row for each event; two for a resize to another size. Each is to be "
                        "taken once.")
        .def("take_events", &handed_over<&Columns::events>, fresh, "Numbers of the events.")
        .def("take_live_bytes", &handed_over<&Columns::live_bytes>, fresh, "U(t) after each.")
        .def("take_sizes", &handed_over<&Columns::sizes>, fresh, "S_i whose blocks changed.")
        .def("take_live_blocks", &handed_over<&Columns::live_blocks>, fresh,
             "P_i(t) of that size after each.");
    nb::class_<LiveChanges>(module, "LiveChanges", "U(t) and P_i(t) in full.")
        .def(nb::init<>())
        .def("feed", &changes_of, nb::arg("events"))
        .def_prop_ro("is_coarse", &LiveChanges::is_coarse,
                     "Sizes beyond the first million are counted as 16 an octave.");
}

void feed_groups(GroupTroughs &troughs, const EventArray &events,
                 const Column<std::uint32_t> &group_of) {
    const nb::gil_scoped_release release;
    troughs.feed(events.events(), as_span(group_of));
}

template <std::vector<std::uint64_t> GroupTroughsResult::*member>
Array<std::uint64_t> of_groups(const GroupTroughsResult &result) {
    return to_array(result.*member);
}

void bind_group_troughs(nb::module_ &module) {
    using Result = GroupTroughsResult;
    constexpr auto fresh = nb::rv_policy::move;
    nb::class_<Result>(module, "GroupTroughsResult", "Bytes of groups of blocks.")
        .def_ro("windows", &Result::windows, "That ended.")
        .def_prop_ro("troughs", &of_groups<&Result::troughs>, fresh,
                     "Least live bytes, a row of windows for each group.")
        .def_prop_ro("held", &of_groups<&Result::held>, fresh,
                     "Live bytes at the end that were born since the first window began.")
        .def_prop_ro("held_blocks", &of_groups<&Result::held_blocks>, fresh)
        .def_prop_ro("held_long", &of_groups<&Result::held_long>, fresh,
                     "Of the held bytes those born in the first half of the windows.");
    nb::class_<GroupTroughs>(module, "GroupTroughs",
                             "Least live bytes of groups of blocks in windows of equal length.")
        .def(
            "__init__",
            [](GroupTroughs *place, std::uint64_t first, std::uint64_t events,
               std::size_t windows) {
                new (place) GroupTroughs({first, events, windows});
            },
            nb::arg("first"), nb::arg("events"), nb::arg("windows"))
        .def("feed", &feed_groups, nb::arg("events"), nb::arg("group_of"),
             "`group_of` has the group of each event's block, from 0 and dense.")
        .def("result", &GroupTroughs::result);
}

} // namespace

void bind_profile(nb::module_ &module) {
    bind_result(module);
    nb::class_<Profile>(module, "Profile", "One pass over a trace that needs no allocator.")
        .def(nb::init<std::size_t>(), nb::arg("samples") = 1000)
        .def("feed", &feed<Profile>, nb::arg("events"))
        .def("result", &Profile::result);
    nb::class_<SizeSeriesResult>(module, "SizeSeriesResult", "P_i(t) of chosen sizes.")
        .def_ro("bucket_width", &SizeSeriesResult::bucket_width, "Events of each point.")
        .def_prop_ro("blocks", &blocks_of, nb::rv_policy::move,
                     "For each size: lowest and highest of each bucket.");
    nb::class_<SizeSeries>(module, "SizeSeries", "Follows the live blocks of chosen sizes.")
        .def(
            "__init__",
            [](SizeSeries *place, const std::vector<Bytes> &chosen, std::size_t samples) {
                new (place) SizeSeries(chosen, samples);
            },
            nb::arg("sizes"), nb::arg("samples") = 1000)
        .def("feed", &feed<SizeSeries>, nb::arg("events"))
        .def("result", &SizeSeries::result);
    bind_live_changes(module);
    bind_group_troughs(module);
    module.def(
        "u_max", [](const EventArray &events) { return u_max_of(events.events()); },
        nb::arg("events"), nb::call_guard<nb::gil_scoped_release>(),
        "The most bytes live at once, without the rest of a profile.");
}

} // namespace heapfit::bindings
