// SPDX-License-Identifier: Apache-2.0
// Figure 4 of Lee and Yi 2008 over a trace reduced to its changes.
#include "heapfit/budget/budget.hpp"

#include <algorithm>

#include "budget/changes.hpp"

namespace heapfit {

namespace {

// The largest budget of class `rank`, those before it being set.
std::int64_t budget_of(std::span<const BudgetChange> changes, std::span<BudgetClass> classes,
                       std::uint32_t rank, std::int64_t u_max) {
    // The bytes that are not for this class, U_max - M_i(t), and their largest value.
    std::int64_t others = 0;
    for (std::uint32_t j = 0; j < rank; j++) {
        others += classes[j].budget * static_cast<std::int64_t>(classes[j].size);
        classes[j].live = 0;
    }
    std::int64_t others_max = others;
    std::int64_t live = 0;
    std::int64_t peak = 0;
    for (const BudgetChange &change : changes) {
        if (change.rank == rank) {
            live += change.bytes > 0 ? 1 : -1;
            peak = std::max(peak, live);
            continue;
        }
        if (change.rank < rank) {
            // Dedicated blocks are set aside anyway: only blocks beyond the budget change the sum.
            BudgetClass &larger = classes[change.rank];
            const std::int64_t before = std::max(larger.live, larger.budget);
            larger.live += change.bytes > 0 ? 1 : -1;
            others += (std::max(larger.live, larger.budget) - before) *
                      static_cast<std::int64_t>(larger.size);
        } else {
            others += change.bytes;
        }
        others_max = std::max(others_max, others);
    }
    return std::min(peak, (u_max - others_max) / static_cast<std::int64_t>(classes[rank].size));
}

} // namespace

std::vector<std::uint64_t> greedy_budgets(std::span<const Event> events,
                                          std::span<const Bytes> sizes, std::uint32_t alignment) {
    BudgetChanges reduced = budget_changes(events, sizes, alignment);
    std::vector<BudgetClass> &classes = reduced.classes;
    std::vector<std::uint64_t> budgets(sizes.size());
    for (std::uint32_t rank = 0; rank < classes.size(); rank++) {
        classes[rank].budget = budget_of(reduced.changes, classes, rank, reduced.u_max);
        budgets[classes[rank].index] = static_cast<std::uint64_t>(classes[rank].budget);
    }
    return budgets;
}

} // namespace heapfit
