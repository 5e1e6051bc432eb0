// SPDX-License-Identifier: Apache-2.0
// The search for the smallest region, interruptible from Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "heapfit/replay/region_search.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using PythonProgress = std::optional<nb::typed<nb::callable, void(std::uint64_t, std::uint64_t)>>;

// Takes the lock, lets Ctrl-C in, then tells the callback. What that raises stops the search.
Progress reporting_to(const PythonProgress &callback) {
    return [&callback](std::uint64_t done, std::uint64_t total) {
        const nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) {
            throw nb::python_error();
        }
        if (callback) {
            (*callback)(done, total);
        }
    };
}

RegionSearch search(const Plan &plan, const EventArray &events, std::uint64_t base_alignment,
                    unsigned threads, const PythonProgress &progress) {
    const SearchOptions options{base_alignment, threads, reporting_to(progress)};
    const nb::gil_scoped_release release;
    return find_region(plan, events.events(), options);
}

} // namespace

void bind_region_search(nb::module_ &module) {
    nb::class_<RegionSearch>(module, "RegionSearch", "The smallest region of a plan for a trace.")
        .def_ro("r_min", &RegionSearch::r_min, "Bytes; None: no region below 4 GiB works.")
        .def_ro("r_safe", &RegionSearch::r_safe,
                "Bytes; every larger scanned size works. None: the largest scanned one failed.")
        .def_ro("step", &RegionSearch::step, "Bytes between scanned sizes; 0: none was scanned.")
        .def_ro("searched", &RegionSearch::searched,
                "False if the region follows from the plan, or from one run.")
        .def_prop_ro(
            "sizes", [](const RegionSearch &found) { return to_array(found.sizes); },
            nb::rv_policy::move)
        .def_prop_ro(
            "succeeded", [](const RegionSearch &found) { return to_array(found.succeeded); },
            nb::rv_policy::move)
        .def_ro("u_max", &RegionSearch::u_max, "Exact requested bytes.");
    module.def("find_region", &search, nb::arg("plan"), nb::arg("events"),
               nb::arg("base_alignment") = 16, nb::arg("threads") = 0,
               nb::arg("progress") = nb::none(),
               "R_min and R_safe by replaying. `progress(done, total)` may raise to stop.");
}

} // namespace heapfit::bindings
