// SPDX-License-Identifier: Apache-2.0
#include "budget/pool_layout.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

std::vector<hfit_pool> sort_pools(std::span<const PoolShape> shapes) {
    std::vector<hfit_pool> pools;
    for (const PoolShape &shape : shapes) {
        const auto size = static_cast<std::uint32_t>(std::min<Bytes>(shape.size, UINT32_MAX));
        pools.push_back({});
        pools.back().size = size;
        pools.back().is_exact = shape.is_exact ? 1 : 0;
    }
    std::ranges::sort(pools, {}, &hfit_pool::size);
    return pools;
}

void lay_out(std::vector<hfit_pool> &pools, std::uint32_t alignment) {
    const auto count = static_cast<std::uint32_t>(pools.size());
    if (hfit_pools_lay_out(pools.data(), count, alignment) == 0) {
        throw Error("pools: " + std::to_string(count) + " pools cannot be laid out at alignment " +
                    std::to_string(alignment) +
                    " (sizes must differ, be above 0, and the pools end below 2 GiB)");
    }
}

} // namespace heapfit
