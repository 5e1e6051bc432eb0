// SPDX-License-Identifier: Apache-2.0
// The search for the worst sequence of requests, interruptible from Python.
#include <algorithm>
#include <optional>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"
#include "heapfit/adversary/adversary.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using PythonProgress = std::optional<std::function<void(double)>>;
using Numbers = Column<std::uint64_t>;

// An interrupt ends the search and keeps the worst so far.
bool goes_on(const PythonProgress &progress, double done) {
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) {
        PyErr_Clear();
        return false;
    }
    if (progress) {
        (*progress)(done);
    }
    return true;
}

std::vector<std::uint64_t> copied(const Numbers &numbers) {
    const auto span = as_span(numbers);
    return {span.begin(), span.end()};
}

Adversary search(const Plan &plan, const Numbers &sizes, const Numbers &peaks, Bytes live,
                 std::uint64_t region, std::uint64_t seed, std::uint64_t events,
                 std::uint64_t base_alignment, const PythonProgress &progress) {
    const Limits limits{copied(sizes), copied(peaks), live};
    const nb::gil_scoped_release release;
    return find_adversary(plan, limits, {region, seed, events, base_alignment},
                          [&](double done) { return goes_on(progress, done); });
}

template <typename Value, auto Event::*member> Array<Value> column(const Adversary &found) {
    std::vector<Value> values;
    for (const Event &event : found.events) {
        values.push_back(static_cast<Value>(event.*member));
    }
    return to_array(std::move(values));
}

} // namespace

void bind_adversary(nb::module_ &module) {
    constexpr auto fresh = nb::rv_policy::move;
    nb::class_<Adversary>(module, "Adversary", "The worst sequence found for a plan.")
        .def_prop_ro("ops", &column<std::uint8_t, &Event::op>, fresh, "0 alloc, 4 free.")
        .def_prop_ro("objects", &column<ObjectId, &Event::object>, fresh)
        .def_prop_ro("sizes", &column<Bytes, &Event::size>, fresh, "Bytes; 0 for a free.")
        .def_ro("region", &Adversary::region,
                "Bytes of the largest region broken, by the last event; 0: none.")
        .def_ro("breaks_any", &Adversary::breaks_any, "No region there can be serves it.")
        .def_ro("plays", &Adversary::plays)
        .def_ro("replayed", &Adversary::replayed, "Events of all plays.")
        .def_ro("is_stopped", &Adversary::is_stopped, "By an interrupt: the worst so far.");
    module.def("find_adversary", &search, nb::arg("plan"), nb::arg("sizes"), nb::arg("peaks"),
               nb::arg("live"), nb::arg("region"), nb::kw_only(), nb::arg("seed") = 1,
               nb::arg("events") = 20'000'000, nb::arg("base_alignment") = 0,
               nb::arg("progress") = nb::none(),
               "Searches a sequence within the limits that the region does not serve.");
}

} // namespace heapfit::bindings
