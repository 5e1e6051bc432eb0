// SPDX-License-Identifier: Apache-2.0
// How many blocks to set aside: greedy budgets and the peaks of pools.
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "heapfit/budget.hpp"
#include "heapfit/event_array.hpp"
#include "heapfit/plan.hpp"
#include "heapfit/pool_peaks.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

std::vector<std::uint64_t> budgets(const EventArray &events, const std::vector<Bytes> &sizes,
                                   std::uint32_t alignment) {
    const nb::gil_scoped_release release;
    return greedy_budgets(events.events(), sizes, alignment);
}

PoolPeaks peaks(const EventArray &events, const std::vector<std::tuple<Bytes, bool>> &pools,
                std::uint32_t alignment, const std::string &allocator) {
    std::vector<PoolShape> shapes;
    for (const auto &[size, is_exact] : pools) {
        shapes.push_back({size, is_exact});
    }
    const hfit_allocator &rule = find_allocator(allocator);
    const nb::gil_scoped_release release;
    return pool_peaks(events.events(), shapes, alignment, rule);
}

} // namespace

void bind_budget(nb::module_ &module) {
    module.def("greedy_budgets", &budgets, nb::arg("events"), nb::arg("sizes"),
               nb::arg("alignment"), "Blocks to dedicate to each size (Lee and Yi, figure 4).");
    nb::class_<PoolPeaks>(module, "PoolPeaks", "What unlimited pools would serve.")
        .def_ro("counts", &PoolPeaks::counts, "N_i, in the order of the pools.")
        .def_ro("shared_requests", &PoolPeaks::shared_requests)
        .def_ro("shared_peak", &PoolPeaks::shared_peak, "Bytes requested and live at once.");
    module.def(
        "pool_peaks", &peaks, nb::arg("events"), nb::arg("pools"), nb::arg("alignment"),
        nb::arg("allocator"),
        "Most live blocks of each pool (size, is_exact), by the allocator's choice of pool.");
}

} // namespace heapfit::bindings
