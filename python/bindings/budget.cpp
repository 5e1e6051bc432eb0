// SPDX-License-Identifier: Apache-2.0
// How many blocks to set aside: greedy and exact budgets, and the peaks of pools.
#include <string>
#include <tuple>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "heapfit/budget/budget.hpp"
#include "heapfit/budget/exhaustive.hpp"
#include "heapfit/budget/points.hpp"
#include "heapfit/budget/pool_peaks.hpp"
#include "heapfit/budget/pool_replay.hpp"
#include "heapfit/budget/search.hpp"
#include "heapfit/replay/plan.hpp"
#include "heapfit/trace/event_array.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

std::vector<std::uint64_t> budgets(const EventArray &events, const std::vector<Bytes> &sizes,
                                   std::uint32_t alignment) {
    const nb::gil_scoped_release release;
    return greedy_budgets(events.events(), sizes, alignment);
}

BudgetPoints points(const EventArray &events, const std::vector<Bytes> &sizes,
                    std::uint32_t alignment) {
    const nb::gil_scoped_release release;
    return budget_points(events.events(), sizes, alignment);
}

BudgetSearch search(const BudgetPoints &points, std::uint64_t node_limit) {
    const nb::gil_scoped_release release;
    return search_budgets(points, node_limit);
}

BudgetEnumeration exhaustive(const EventArray &events, const std::vector<Bytes> &sizes,
                             std::uint32_t alignment, std::uint64_t most_combinations) {
    const nb::gil_scoped_release release;
    return exhaustive_budgets(events.events(), sizes, alignment, most_combinations);
}

Array<std::uint32_t> live(const BudgetPoints &points) {
    return to_array(points.live);
}

Array<std::int64_t> slacks(const BudgetPoints &points) {
    return to_array(points.slacks);
}

void bind_exact_budgets(nb::module_ &module) {
    nb::class_<BudgetPoints>(module, "BudgetPoints", "The constraints of exact budgeting.")
        .def_ro("sizes", &BudgetPoints::sizes, "S_i, rounded up to the alignment.")
        .def_ro("caps", &BudgetPoints::caps, "No allowed N_i is above.")
        .def_ro("u_max", &BudgetPoints::u_max, "Of all live requests, so rounded.")
        .def_prop_ro("slacks", &slacks, nb::rv_policy::move, "U_max - U(t) of each point.")
        .def_prop_ro("live", &live, nb::rv_policy::move, "P_i(t): the points one after another.");
    module.def("budget_points", &points, nb::arg("events"), nb::arg("sizes"), nb::arg("alignment"),
               "The moments of a trace that limit budgets.");
    nb::class_<BudgetSearch>(module, "BudgetSearch", "Budgets and the most that any dedicate.")
        .def_ro("counts", &BudgetSearch::counts, "N_i.")
        .def_ro("dedicated", &BudgetSearch::dedicated, "Sum S_i N_i.")
        .def_ro("bound", &BudgetSearch::bound, "No budgets dedicate more.")
        .def_ro("nodes", &BudgetSearch::nodes, "Choices tried.");
    module.def("search_budgets", &search, nb::arg("points"), nb::arg("node_limit"),
               "Best budgets by branch and bound.");
    nb::class_<BudgetEnumeration>(module, "BudgetEnumeration", "Budgets by trying all.")
        .def_ro("counts", &BudgetEnumeration::counts, "N_i.")
        .def_ro("dedicated", &BudgetEnumeration::dedicated, "Sum S_i N_i.")
        .def_ro("combinations", &BudgetEnumeration::combinations, "Tried.");
    module.def("exhaustive_budgets", &exhaustive, nb::arg("events"), nb::arg("sizes"),
               nb::arg("alignment"), nb::arg("most_combinations"),
               "Best budgets by trying every combination.");
}

std::vector<PoolShape> shapes_of(const std::vector<std::tuple<Bytes, bool>> &pools) {
    std::vector<PoolShape> shapes;
    for (const auto &[size, is_exact] : pools) {
        shapes.push_back({size, is_exact});
    }
    return shapes;
}

PoolPeaks peaks(const EventArray &events, const std::vector<std::tuple<Bytes, bool>> &pools,
                std::uint32_t alignment, const std::string &allocator) {
    const std::vector<PoolShape> shapes = shapes_of(pools);
    const hfit_allocator &rule = find_allocator(allocator);
    const nb::gil_scoped_release release;
    return pool_peaks(events.events(), shapes, alignment, rule);
}

void make_pool_replay(PoolReplay *self, const EventArray &events,
                      const std::vector<std::tuple<Bytes, bool>> &pools, std::uint32_t alignment,
                      std::uint32_t stretches) {
    const std::vector<PoolShape> shapes = shapes_of(pools);
    const nb::gil_scoped_release release;
    new (self) PoolReplay(events.events(), shapes, alignment, stretches);
}

PoolRefusals run_pools(const PoolReplay &replay, const std::vector<std::uint32_t> &counts,
                       bool falls_back) {
    const nb::gil_scoped_release release;
    return replay.run(counts, falls_back);
}

Array<std::uint64_t> requests(const PoolRefusals &found) {
    return to_array(found.requests);
}

Array<std::uint64_t> refused(const PoolRefusals &found) {
    return to_array(found.refused);
}

void bind_pool_replay(nb::module_ &module) {
    nb::class_<PoolRefusals>(module, "PoolRefusals",
                             "By stretch, one after the other, and by the pool that is a "
                             "request's first choice.")
        .def_prop_ro("requests", &requests, nb::rv_policy::move, "Allocations and resizes.")
        .def_prop_ro("refused", &refused, nb::rv_policy::move, "Of these.");
    nb::class_<PoolReplay>(module, "PoolReplay",
                           "A trace for pools of given sizes and any counts; a full pool's "
                           "requests go to the next of class_pools' rule.")
        .def("__init__", &make_pool_replay, nb::arg("events"), nb::arg("pools"),
             nb::arg("alignment"), nb::arg("stretches"))
        .def("run", &run_pools, nb::arg("counts"), nb::arg("falls_back") = true,
             "One pass with so many blocks of each; without a fall-back a full pool refuses.");
}

} // namespace

void bind_budget(nb::module_ &module) {
    module.def("greedy_budgets", &budgets, nb::arg("events"), nb::arg("sizes"),
               nb::arg("alignment"), "Blocks to dedicate to each size (Lee and Yi, figure 4).");
    bind_exact_budgets(module);
    nb::class_<PoolPeaks>(module, "PoolPeaks", "What unlimited pools would serve.")
        .def_ro("counts", &PoolPeaks::counts, "N_i, in the order of the pools.")
        .def_ro("shared_requests", &PoolPeaks::shared_requests)
        .def_ro("shared_peak", &PoolPeaks::shared_peak, "Bytes requested and live at once.");
    module.def(
        "pool_peaks", &peaks, nb::arg("events"), nb::arg("pools"), nb::arg("alignment"),
        nb::arg("allocator"),
        "Most live blocks of each pool (size, is_exact), by the allocator's choice of pool.");
    bind_pool_replay(module);
}

} // namespace heapfit::bindings
