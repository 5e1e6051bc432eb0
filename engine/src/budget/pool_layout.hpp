// SPDX-License-Identifier: Apache-2.0
// Pools as the allocators want them: ascending in size and laid out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/budget/pool_peaks.hpp"
#include "hfit/pools.h"

namespace heapfit {

// The pools in ascending order of size, without blocks yet.
[[nodiscard]] std::vector<hfit_pool> sort_pools(std::span<const PoolShape> shapes);

// Lays them out for their counts. Throws Error where that cannot be.
void lay_out(std::vector<hfit_pool> &pools, std::uint32_t alignment);

} // namespace heapfit
