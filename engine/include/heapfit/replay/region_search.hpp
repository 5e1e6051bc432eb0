// SPDX-License-Identifier: Apache-2.0
// The smallest region in which a trace runs: R_min and R_safe, by the replay rules
// (decision 19).
//
// Success is not monotone in the region's size: TLSF can fail in a region 8 % larger than one that
// works. So after one bisection, to a size S, the sizes from 0.9 S to 1.3 S are replayed:
// every multiple of 8, or 128 equally spaced ones; then the edges of R_min and R_safe are closed
// in.
//
//   0.9 S                     S                                            1.3 S
//   | . . . . . x . . x x . x x x . x x x x x x x x x x x x x x x x x x x x x x |
//             R_min               R_safe: above all that fail
//                                                       x: the trace runs
//
// The window is made longer where it does not show enough: down while what is below the smallest
// success was not looked at, up while its last size fails. Every replay counts, whatever it was
// made for: R_safe lies above each size that failed in the doubling, the bisection or the window.
//
// What lies between two sizes of the window is tried as far as `most_events` go: from R_safe up,
// where a failure is likeliest, a few sizes at a time, then from R_min down.
//
// A heap to whose choices the region matters only as the size of its last free chunk, as tlsf,
// tells by one run in a large region from which one on all serve: what lies above it is not
// replayed.
//
// Where R_safe alone is asked for, nothing below S is replayed beside the bisection: the size below
// S fails, so that R_safe is S or lies above it.
//
// Two cases need no search. A plan that runs in the smallest region it accepts has its R there
// (pools). A plan that places alike in every region with room enough, as best_fit and tailored do,
// has its R where the room ends that one run took, or, where a last chunk may take more than it
// needs, a few sizes below: each is tried until one fails.
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
    unsigned threads = 0;       // that replay at once; 0: as many as the machine has
    Progress progress = {};     // may be empty
    bool every_size = false;    // each multiple of 8 of the window, however many replays these are
    std::uint64_t also = 0;     // a size to be tried before all, as it failed elsewhere; 0: none
    bool is_safe_alone = false; // R_safe is asked for, and R_min only where one run tells it
    std::uint64_t most_events = 0; // of replays between the sizes of the window, about
};

struct RegionSearch {
    std::optional<std::uint64_t> r_min;  // the smallest that works; none: nothing tried does
    std::optional<std::uint64_t> r_safe; // the smallest that works above all that fail, if any does
    std::uint64_t step = 0;              // bytes between scanned sizes; 0 if nothing was scanned
    bool searched = false;               // false: R follows from the plan or from one run
    std::vector<std::uint64_t> sizes;    // of the window, ascending, tried or known to serve; R if
                                         // not searched
    std::vector<std::uint8_t> succeeded; // of each size: 1 if the trace runs in it
    std::uint64_t events = 0;            // of all replays
    std::uint64_t events_left = 0;       // that every size left out above R_safe would take, about
    // The lowest placement that any replay made of the whole trace, and the region it was made in;
    // of heaps whose blocks lie in one piece each, a bound on what a clairvoyant heap needs.
    Bytes height = 0;
    std::uint64_t height_region = 0; // 0: no replay came to its end
    Bytes u_max = 0;
};

struct SearchSpace {
    std::uint64_t smallest_region; // that the plan accepts
    Bytes u_max;
    // Of a plan that places alike wherever there is room: a region above which all have room for a
    // run of this reach (TrialResult). Empty for any other.
    std::function<std::uint64_t(std::uint64_t reach)> region_for = {};
    std::uint64_t by_chance = 0; // bytes below that region in which the same run may do, too
    // Of a plan to which the room matters as its last chunk's size: a region from which on all
    // serve, told by a replay in this one (Trial::serves_from). Empty for any other.
    std::function<std::optional<std::uint64_t>(std::uint64_t size)> serves_from = {};
    // Sizes of one kind are tried one after the other, the largest first, by one thread. Empty:
    // each by itself.
    std::function<std::uint64_t(std::uint64_t size)> kind = {};
};

// The search itself, for any way of trying a size. The same answer for any number of threads.
[[nodiscard]] RegionSearch search_regions(const SearchSpace &space, const TrialOf &trial,
                                          const SearchOptions &options);

// R_min and R_safe of a plan for a trace.
[[nodiscard]] RegionSearch scan(const Trial &trial, const SearchOptions &options);

} // namespace heapfit
