// SPDX-License-Identifier: Apache-2.0
// The adversary: searches a sequence of requests that a plan does not serve in a region, though it
// stays within limits taken from a profile.
//
// A sequence is found by playing on the plan's own heap, so each choice sees where the blocks lie:
//
//   1. known bad programs, their rounds made of the profile's sizes: fill up with a size, free all
//      but the fewest bytes that leave no hole large enough for the next size, and ask for that
//      (Robson 1971, "An estimate of the store size necessary for dynamic storage allocation");
//      fill and free every size in turn; small between large;
//   2. rounds changed at random, those kept that reach highest (local search);
//   3. the worst sequence changed event by event.
//
// A play that is refused in a region is played again in larger ones, so the worst is the sequence
// refused in the largest region.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "heapfit/event.hpp"
#include "heapfit/replay/plan.hpp"

namespace heapfit {

// What a program keeps to: at any time `live` bytes at most, and of each size as many blocks at
// most as its peak says. Sizes ascend.
struct Limits {
    std::vector<Bytes> sizes;
    std::vector<std::uint64_t> peaks;
    Bytes live = 0;
};

struct AdversaryOptions {
    std::uint64_t region = 0; // that is to be broken
    std::uint64_t seed = 1;
    std::uint64_t events = 20'000'000; // replayed at most
    std::uint64_t base_alignment = 0;  // that the plan asks for
};

struct Adversary {
    std::vector<Event> events; // the last is refused in `region`; none: nothing found
    std::uint64_t region = 0;  // the largest that was broken; 0: none
    bool breaks_any = false;   // it is refused in every region there can be
    std::uint64_t plays = 0;
    std::uint64_t replayed = 0; // events of all plays
    bool is_stopped = false;    // `progress` said so
};

// Tells `progress` the share of the events that is spent, from time to time; where that returns
// false, the worst so far is returned. The same for the same options on every machine. Throws Error
// if the plan does not take the region, or the limits are not of one length.
[[nodiscard]] Adversary find_adversary(const Plan &plan, const Limits &limits,
                                       const AdversaryOptions &options,
                                       const std::function<bool(double)> &progress);

} // namespace heapfit
