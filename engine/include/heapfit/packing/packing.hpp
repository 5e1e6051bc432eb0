// SPDX-License-Identifier: Apache-2.0
// An offline placement: where every block would lie if all lifetimes were known beforehand, and
// headers and alignment cost nothing. Its height is a region that a clairvoyant heap needs at most;
// between U_max and it lies what no allocator can be blamed for.
//
// Each step only where there is work left:
//   1. in order of time, lowest hole or smallest hole that fits: any trace, n log n;
//   2. again with a zone for each common size, which its lifetimes fill without gaps, and holes
//      chosen by when their neighbours end; zones and weights by local search from greedy ones;
//   3. lowest place that is free for the whole life, in four fixed orders (as placed so far from
//      the bottom up; largest area, size, lifetime first);
//   4. again with what lay above the peak moved to the front (squeaky wheel);
//   5. the best order changed at random, lifetimes at the top moved forward (local search).
// At most 1,000 lifetimes are also placed by branch and bound (src/packing/branching.hpp): before
// step 2 below the peak, then below the next height that is not proven impossible, with half of the
// placements; after step 5 below heights between that and the best, with the rest. Its end is a
// proof, so it raises the floor.
// An order of steps 3 to 5 looks once at each two lifetimes that overlap in time: where these are
// more than half the effort, step 2 is the last.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "heapfit/packing/lifetimes.hpp"

namespace heapfit {

struct PackingEffort {
    std::uint64_t seed = 1;
    std::uint64_t pairs = 100'000'000; // of lifetimes that overlap, and of a lifetime and a hole
    std::uint64_t placements = 0;      // of one lifetime, tried by branch and bound
    Bytes enough = 0;                  // a height that ends the search
};

struct Packing {
    std::vector<Bytes> offsets; // of each lifetime
    Bytes height = 0;
    Bytes floor = 0;              // no placement is lower: the peak, or what is proven beyond it
    std::uint64_t zoned = 0;      // placements begun in step 2
    std::uint64_t orders = 0;     // placed to their end in steps 3 to 5
    std::uint64_t pairs = 0;      // looked at
    std::uint64_t placements = 0; // tried by branch and bound
    bool is_stopped = false;      // `progress` said so
};

// `lifetimes` ascend by `from`. Tells `progress` the share of the effort that is spent, from time
// to time; where that returns false, what is best so far is returned. The same for the same effort,
// on every machine.
[[nodiscard]] Packing pack(std::span<const Lifetime> lifetimes, const PackingEffort &effort,
                           const std::function<bool(double)> &progress);

} // namespace heapfit
