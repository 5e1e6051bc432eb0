// SPDX-License-Identifier: Apache-2.0
// The smallest region in which a trace runs: R_min and R_safe, by the replay rules (DESIGN.md).
//
// Success is not monotone in the region's size: TLSF can fail in a region 8 % larger than one that
// works. So after one bisection, to a size S, S and 128 equally spaced sizes from 0.9 S to 1.3 S
// are replayed.
//
//   0.9 S                     S                                            1.3 S
//   | . . . . . x . . x x . x x x . x x x x x x x x x x x x x x x x x x x x x x |
//             R_min               R_safe: every larger scanned size works
//                                                       x: the trace runs
//
// Two cases need no search. A plan that runs in the smallest region it accepts has its R there
// (pools). A plan that ignores where the region ends, as pools over best_fit do, has its R at its
// high-water mark, from one run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "heapfit/event.hpp"
#include "heapfit/replay/trial.hpp"

namespace heapfit {

// Told on the calling thread, at least every 0.1 s, how many of how many replays are done; the
// total is an estimate until the scan begins. An exception from it stops the search and is passed
// on.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct SearchOptions {
    unsigned threads = 0; // that replay at once; 0: as many as the machine has
    Progress progress;    // may be empty
};

struct RegionSearch {
    std::optional<std::uint64_t> r_min;  // none: no region below 4 GiB that was tried works
    std::optional<std::uint64_t> r_safe; // none: the largest scanned region failed, or as for r_min
    std::uint64_t step = 0;              // bytes between scanned sizes; 0 if nothing was scanned
    bool searched = false;               // false: R follows from the plan or from one run
    std::vector<std::uint64_t> sizes;    // scanned, ascending; the one size tried if not searched
    std::vector<std::uint8_t> succeeded; // of each size: 1 if the trace runs in it
    Bytes u_max = 0;
};

struct SearchSpace {
    std::uint64_t smallest_region; // that the plan accepts
    Bytes u_max;
    bool ignores_region_end;
};

// The search itself, for any way of trying a size. The same answer for any number of threads.
[[nodiscard]] RegionSearch search_regions(const SearchSpace &space, const TrialOf &trial,
                                          const SearchOptions &options);

// R_min and R_safe of a plan for a trace.
[[nodiscard]] RegionSearch scan(const Trial &trial, const SearchOptions &options);

} // namespace heapfit
