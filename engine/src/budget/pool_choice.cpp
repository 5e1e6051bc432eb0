// SPDX-License-Identifier: Apache-2.0
// Asking an allocator's rule; see pool_choice.hpp.
#include "heapfit/budget/pool_choice.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// All scalars 0: which pool is first does not depend on them.
hfit_pools_plan plan_of(std::span<const hfit_pool> pools, std::uint32_t alignment) {
    hfit_pools_plan plan{};
    plan.common.alignment = alignment;
    plan.pools = {pools.data(), static_cast<std::uint32_t>(pools.size()), 0};
    return plan;
}

} // namespace

PoolChoice::PoolChoice(const hfit_allocator &allocator, const hfit_pools_plan &plan)
    : allocator_(allocator), plan_(plan) {
    if (allocator.next_pool == nullptr) {
        throw Error("pools: '" + std::string(allocator.name) + "' has no pools");
    }
}

PoolChoice::PoolChoice(const hfit_allocator &allocator, std::span<const hfit_pool> pools,
                       std::uint32_t alignment)
    : PoolChoice(allocator, plan_of(pools, alignment)) {}

PoolChoice::PoolChoice(const Plan &plan)
    : PoolChoice(plan.allocator(),
                 plan.pools_plan() == nullptr ? hfit_pools_plan{} : *plan.pools_plan()) {}

std::uint32_t PoolChoice::choose(Bytes size, Bytes alignment) const {
    const auto asked = static_cast<std::size_t>(std::max<Bytes>(size, 1));
    std::uint32_t pool = allocator_.next_pool(&plan_, asked, HFIT_NO_POOL);
    while (pool != HFIT_NO_POOL && !is_aligned(plan_.pools.items[pool], alignment)) {
        pool = allocator_.next_pool(&plan_, asked, pool);
    }
    return pool;
}

std::vector<std::uint32_t> PoolChoice::all(Bytes size) const {
    const auto asked = static_cast<std::size_t>(std::max<Bytes>(size, 1));
    std::vector<std::uint32_t> pools;
    std::uint32_t pool = allocator_.next_pool(&plan_, asked, HFIT_NO_POOL);
    for (; pool != HFIT_NO_POOL; pool = allocator_.next_pool(&plan_, asked, pool)) {
        pools.push_back(pool);
    }
    return pools;
}

bool PoolChoice::is_aligned(const hfit_pool &pool, Bytes alignment) const {
    const Bytes unit = plan_.common.alignment;
    const Bytes block_size = (pool.size + unit - 1) / unit * unit;
    return ((pool.base | block_size) & (alignment - 1)) == 0;
}

} // namespace heapfit
