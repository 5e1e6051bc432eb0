// SPDX-License-Identifier: Apache-2.0
// Where a long trace asks for most, and the rows of it that make an excerpt.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "heapfit/profile/stretch_peaks.hpp"
#include "heapfit/trace/event_array.hpp"
#include "heapfit/trace/excerpt.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

template <typename Pass> void feed(Pass &pass, const EventArray &events) {
    const nb::gil_scoped_release release;
    pass.feed(events.events());
}

void make_excerpt(Excerpt *place,
                  const std::vector<std::pair<std::uint64_t, std::uint64_t>> &given) {
    std::vector<Window> windows;
    for (const auto &[first, end] : given) {
        windows.push_back({first, end});
    }
    new (place) Excerpt(std::move(windows));
}

std::pair<Array<std::uint64_t>, Array<std::uint64_t>> rows_of(Excerpt &excerpt) {
    ExcerptRows rows = excerpt.finish();
    return {to_array(std::move(rows.events)), to_array(std::move(rows.sizes))};
}

} // namespace

void bind_excerpt(nb::module_ &module) {
    constexpr auto fresh = nb::rv_policy::move;
    nb::class_<StretchPeaks>(module, "StretchPeaks",
                             "Where a trace asks for most, by stretches of equally many events.")
        .def(nb::init<std::uint64_t>(), nb::arg("width"))
        .def("feed", &feed<StretchPeaks>, nb::arg("events"))
        .def_prop_ro(
            "live_highest",
            [](const StretchPeaks &peaks) { return to_array(std::vector(peaks.live_highest())); },
            fresh, "Most live bytes of each stretch.")
        .def_prop_ro("octave_peaks", &StretchPeaks::octave_peaks,
                     "Of each octave of sizes: the stretch in which its bytes are most.");
    nb::class_<Excerpt>(module, "Excerpt",
                        "Rows that keep chosen windows of a trace, and what they begin with.")
        .def("__init__", &make_excerpt, nb::arg("windows"),
             "First event and end of each, in order and apart.")
        .def("feed", &feed<Excerpt>, nb::arg("events"))
        .def("finish", &rows_of, fresh,
             "Numbers of the events that make the excerpt, and the size that each asks for.");
}

} // namespace heapfit::bindings
