// SPDX-License-Identifier: Apache-2.0
// How many blocks of each range of sizes are ever live at once: what a pool that serves just this
// range would need.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

// Peaks of all ranges of `bounds`, which ascend: entry i * bounds.size() + j is the most blocks of
// requests above bounds[i - 1] (or of any size, for i = 0) and at most bounds[j] ever live at once;
// 0 where j < i. Requests above the last bound are left out; 0 bytes count as 1. Throws Error on a
// bad trace or bounds that do not ascend. Cost: for each run of allocations, the ranges that hold
// one of them.
[[nodiscard]] std::vector<std::uint32_t> range_peaks(std::span<const Event> events,
                                                     std::span<const Bytes> bounds);

} // namespace heapfit
