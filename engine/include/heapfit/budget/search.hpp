// SPDX-License-Identifier: Apache-2.0
// Budgets proven best, for few sizes: branch and bound over the points of a trace.
#pragma once

#include <cstdint>
#include <vector>

#include "heapfit/budget/points.hpp"

namespace heapfit {

struct BudgetSearch {
    std::vector<std::uint64_t> counts; // N_i in the order of the points' sizes
    std::uint64_t dedicated = 0;       // sum S_i N_i
    std::uint64_t bound = 0;           // no budgets dedicate more; `dedicated` where proven
    std::uint64_t nodes = 0;           // choices tried
};

// The first leaf is the greedy solution, so that is what a search of few nodes returns at least.
// Stops after `node_limit` nodes: then `bound` may be above `dedicated`. A node costs a pass over
// the points.
[[nodiscard]] BudgetSearch search_budgets(const BudgetPoints &points, std::uint64_t node_limit);

} // namespace heapfit
