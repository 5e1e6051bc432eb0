// SPDX-License-Identifier: Apache-2.0
// Whether all lifetimes can be placed below a ceiling, by branch and bound.
//
// A branch takes a section and asks which lifetime lies on its floor: each that may is placed there
// in turn, and last none is. What no longer overlaps anything else in time is a problem of its own.
// A state that has failed once is not tried again. The order of sections and lifetimes decides how
// long it takes, so the search begins anew with another order, each cycle of orders with more
// tries, and prefers sections that contradicted often (Boussemart et al. 2004).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "packing/sections.hpp"

namespace heapfit {

enum class Below : std::uint8_t { placed, impossible, undecided };

struct Branching {
    Below result = Below::undecided;
    std::vector<Bytes> offsets;   // of each lifetime, if all are placed
    std::uint64_t placements = 0; // tried, of one lifetime
    Bytes next_ceiling = 0;       // no ceiling below it is possible, if this one is not
};

struct BranchingEffort {
    std::uint64_t seed;
    std::uint64_t placements;
};

// Tells `goes_on` from time to time how many placements were tried; where that returns false the
// search ends undecided.
[[nodiscard]] Branching place_below(const Sections &sections, Bytes ceiling,
                                    const BranchingEffort &effort,
                                    const std::function<bool(std::uint64_t)> &goes_on);

} // namespace heapfit
