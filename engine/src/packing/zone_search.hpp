// SPDX-License-Identifier: Apache-2.0
// The zones and weights that place lifetimes lowest, by local search from greedy zones.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "heapfit/packing/lifetimes.hpp"

namespace heapfit {

struct ZonedPacking {
    std::vector<Bytes> offsets; // of each lifetime; empty: no placement was made
    Bytes height = 0;
    std::uint64_t placements = 0; // begun
};

struct ZoneEffort {
    Bytes peak; // the search ends at this height
    std::uint64_t seed;
    std::uint64_t steps; // lifetimes placed and holes looked at, after which the search ends
};

// Tells `spent` the steps of each placement; where that returns false the search ends.
[[nodiscard]] ZonedPacking search_zones(std::span<const Lifetime> lifetimes,
                                        const ZoneEffort &effort,
                                        const std::function<bool(std::uint64_t)> &spent);

} // namespace heapfit
