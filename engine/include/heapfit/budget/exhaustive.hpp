// SPDX-License-Identifier: Apache-2.0
// Budgets by trying every combination, as Lee and Yi's table 1 compares with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

struct BudgetEnumeration {
    std::vector<std::uint64_t> counts; // of equal sums the first, N_1 fewest
    std::uint64_t dedicated = 0;       // sum S_i N_i
    std::uint64_t combinations = 0;    // tried: the product of P_i,max + 1
};

// For sizes as `greedy_budgets` has them. Each combination is followed over the whole trace until
// U^B(t) is above U_max; nothing is left out, so that this can judge cleverer searches. Throws
// Error where there are more than `most_combinations`.
[[nodiscard]] BudgetEnumeration exhaustive_budgets(std::span<const Event> events,
                                                   std::span<const Bytes> sizes,
                                                   std::uint32_t alignment,
                                                   std::uint64_t most_combinations);

} // namespace heapfit
