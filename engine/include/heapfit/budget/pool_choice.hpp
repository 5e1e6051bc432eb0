// SPDX-License-Identifier: Apache-2.0
// Which pool of a design a request is for, asked of the allocator's own rule (next_pool of its
// descriptor), so that host and firmware cannot disagree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hfit/descriptor.h"
#include "hfit/pools.h"

#include "heapfit/event.hpp"
#include "heapfit/replay/plan.hpp"

namespace heapfit {

class PoolChoice {
  public:
    // `pools` are laid out, ascending in size, and outlive this. Throws Error if the allocator has
    // no pools.
    PoolChoice(const hfit_allocator &allocator, std::span<const hfit_pool> pools,
               std::uint32_t alignment);

    // The same of a whole plan, which outlives this.
    explicit PoolChoice(const Plan &plan);

    // The number of the first pool in the allocator's order whose blocks are all so aligned;
    // HFIT_NO_POOL if the shared heap serves the request. A size of 0 counts as 1.
    [[nodiscard]] std::uint32_t choose(Bytes size, Bytes alignment) const;

    // The pools to try for a request, in the allocator's order, whatever their blocks' alignment.
    [[nodiscard]] std::vector<std::uint32_t> all(Bytes size) const;

  private:
    PoolChoice(const hfit_allocator &allocator, const hfit_pools_plan &plan);

    [[nodiscard]] bool is_aligned(const hfit_pool &pool, Bytes alignment) const;

    const hfit_allocator &allocator_;
    hfit_pools_plan plan_;
};

} // namespace heapfit
