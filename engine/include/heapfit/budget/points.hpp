// SPDX-License-Identifier: Apache-2.0
// The constraints of exact budgeting: the moments of a trace that no other moment makes redundant.
//
// Budgets N_i maximise sum S_i N_i where at every time t (Lee and Yi 2008, equations 4 to 9)
//
//   sum over i of S_i max(0, N_i - P_i(t)) <= slack(t) = U_max - U(t)
//
// Nearly all t can go, and the set of allowed budgets stays the same:
//   - all but the last before blocks are freed: a state is implied by any state with blocks added;
//   - those that hold at the caps, cap_i = min(P_i,max, min over t of P_i(t) + slack(t) / S_i);
//   - t where some t' has sum S_i max(0, P_i(t') - P_i(t)) <= slack(t) - slack(t').
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

struct BudgetPoints {
    std::vector<std::int64_t> sizes;  // S_i, rounded up to the alignment, in the caller's order
    std::vector<std::int64_t> caps;   // no allowed N_i is above
    std::int64_t u_max = 0;           // of all live requests, so rounded
    std::vector<std::int64_t> slacks; // of each point, ascending
    std::vector<std::uint32_t> live;  // P_i, at most cap_i: a row of sizes.size() for each point

    [[nodiscard]] std::span<const std::uint32_t> row(std::size_t point) const {
        return std::span(live).subspan(point * sizes.size(), sizes.size());
    }
};

// The points of a trace for classes `sizes` as `greedy_budgets` has them, and throwing likewise.
// Where pairs are too many to be compared all, a few redundant points may stay.
[[nodiscard]] BudgetPoints budget_points(std::span<const Event> events,
                                         std::span<const Bytes> sizes, std::uint32_t alignment);

} // namespace heapfit
