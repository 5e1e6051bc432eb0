// SPDX-License-Identifier: Apache-2.0
// Greedy budgets: how many blocks N_i to dedicate to each size S_i (Lee and Yi, figure 4).
//
// Units are those of the heap that will run: a class serves every request that rounds up to the
// same multiple of the alignment, S_i is that multiple, and U(t) sums all live requests so rounded
// (0 bytes counts as 1). All sums are exact, in 64 bits.
#pragma once

#include <span>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

// N_i for each of `sizes`, in their order; `alignment` is 4, 8 or 16. Sizes are budgeted in
// descending order, each with the most blocks that keep U^B(t) at or below U_max:
//
//   N_i    = min(P_i,max, floor(min over t of M_i(t) / S_i))                     (17)
//   M_i(t) = U_max - sum over j < i of S_j max(N_j, P_j(t))
//                  - sum over j > i of S_j P_j(t)                                (18)
//
// The last sum includes all live requests of no given size. The time before the first event is a t
// with all P_j = 0. Throws Error on a bad trace, or if two sizes are one class. Cost: one pass over
// the events, and one over a compact copy of them for each size.
[[nodiscard]] std::vector<std::uint64_t> greedy_budgets(std::span<const Event> events,
                                                        std::span<const Bytes> sizes,
                                                        std::uint32_t alignment);

} // namespace heapfit
