// SPDX-License-Identifier: Apache-2.0
// Time cut into sections: the sets of lifetimes that are live together and lie in no larger set.
//
//   lifetimes   aaaaaaaaa     a and b overlap in section 0, a and c in section 1. Two lifetimes
//               bbb  ccccc    overlap in time exactly if they have a section in common.
//   sections    0    1
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/packing/lifetimes.hpp"

namespace heapfit {

using Numbers = std::vector<std::uint32_t>; // of lifetimes, ascending

struct SectionSpan {
    std::uint32_t begin;
    std::uint32_t end; // not included
};

struct Sections {
    // `lifetimes` ascend by `from`. Takes memory for each two that overlap.
    explicit Sections(std::span<const Lifetime> lifetimes);

    std::vector<SectionSpan> spans;   // of each lifetime
    std::vector<Bytes> sizes;         // of each lifetime
    std::vector<std::uint64_t> lives; // of each lifetime: events
    std::vector<Numbers> overlapping; // with each lifetime
    std::vector<Numbers> members;     // of each section
};

} // namespace heapfit
