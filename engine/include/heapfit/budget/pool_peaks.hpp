// SPDX-License-Identifier: Apache-2.0
// How many blocks each pool of a design needs: the most that are live at once on unlimited pools.
//
// Which pool a request takes is the allocator's rule (pool_choice.hpp). An aligned request takes
// the first pool in the rule's order whose blocks all lie at such addresses. A resize goes where a
// request of the new size would.
#pragma once

#include <span>
#include <vector>

#include "hfit/descriptor.h"

#include "heapfit/event.hpp"

namespace heapfit {

struct PoolShape {
    Bytes size;
    bool is_exact;
};

struct PoolPeaks {
    std::vector<std::uint64_t> counts; // N_i, in the order of the pools given
    std::uint64_t shared_requests;     // allocations and resizes that the shared heap serves
    Bytes shared_peak;                 // most bytes requested of it and live at once
};

// N_i for pools of any order. A plan of these counts serves all but the shared requests without a
// refusal. Throws Error on a bad trace, an allocator without pools, an alignment other than 4, 8 or
// 16, or pools that cannot be laid out.
[[nodiscard]] PoolPeaks pool_peaks(std::span<const Event> events, std::span<const PoolShape> pools,
                                   std::uint32_t alignment, const hfit_allocator &allocator);

} // namespace heapfit
