// SPDX-License-Identifier: Apache-2.0
// Does a trace run in a region, and in which is the smallest? Whoever asks, asks here, with the
// effort that he can afford:
//
//   run            one size
//   first_success  twice as large until it runs
//   lower          from a size down, by a part of it at a time, until it fails
//   descend        from a size down, by steps that double and then halve; then a few larger sizes
//   bisect         between a size that fails and one that works
//   scan           the first success, bisected, and 128 sizes around that: region_search.hpp
//
// Success is not monotone in the size, so more effort gives another answer, not only a finer one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "heapfit/event.hpp"
#include "heapfit/replay/plan.hpp"
#include "heapfit/replay/stop.hpp"

namespace heapfit {

inline constexpr std::uint64_t region_unit = 8; // regions that are searched are multiples of it
inline constexpr std::uint64_t largest_region = (std::uint64_t{1} << 32) - region_unit;

constexpr std::uint64_t round_to_region(std::uint64_t size) {
    return (size + region_unit - 1) / region_unit * region_unit;
}

// What one replay in one region came to.
struct TrialResult {
    bool runs = false;           // the whole trace, with no more refused than is allowed
    bool is_region = true;       // false: the plan takes none of this size; nothing was replayed
    std::uint64_t footprint = 0; // at the end
    std::uint64_t reach = 0;     // that it took, where a larger region changes nothing: replay.hpp
    Bytes height = 0;            // of the placement it made: replay.hpp
    std::uint64_t events = 0;    // done; the refused one that ends a replay is not
    std::uint64_t known = 0;     // of them, from an earlier replay (forked_trials.hpp)
    std::uint64_t placement_hash = 0; // replay.hpp
};

// Replays a trace in a region of this size; when asked to stop it may tell that it did not run. A
// scan calls it from several threads at once.
using TrialOf = std::function<TrialResult(std::uint64_t region_size, const Stop &)>;

// Called before each replay, on the calling thread. What it throws ends the search and is passed
// on.
using BeforeReplay = std::function<void(std::uint64_t replays, std::uint64_t events)>;

// What an effort found, and how much was done for it.
struct TrialSeries {
    std::optional<std::uint64_t> region; // in which the trace runs; none: in none that was tried
    std::uint64_t footprint = 0;         // of the trace in it
    std::uint64_t reach = 0;             // likewise: TrialResult
    std::uint64_t failing = 0;           // the last size below it that was tried in vain; 0: none
    std::uint64_t replays = 0;
    std::uint64_t events = 0; // of all replays
};

// Down from a size by steps of at least `step`. Then what lies so much `above` is tried: the answer
// is the smallest from which all of them work, the largest region if the last of them fails.
struct Descent {
    std::uint64_t from;
    std::uint64_t step;
    std::vector<std::uint64_t> above; // bytes
};

// Between a size that fails, or is the least there can be, and one that works, until they are no
// more than `resolution` apart.
struct Bisection {
    std::uint64_t failing;
    std::uint64_t working;
    std::uint64_t resolution;
};

// Each effort for any way of trying a size.
[[nodiscard]] TrialSeries first_success(const TrialOf &trial, std::uint64_t from,
                                        const BeforeReplay &before);
[[nodiscard]] TrialSeries descend(const TrialOf &trial, const Descent &descent,
                                  const BeforeReplay &before);
[[nodiscard]] TrialSeries bisect(const TrialOf &trial, const Bisection &bisection,
                                 const BeforeReplay &before);

// A plan's heap under a trace. The events must outlive it.
class Trial {
  public:
    // `base_alignment` is what the trace or the plan asks for (host_heap.hpp).
    Trial(const Plan &plan, std::span<const Event> events, std::uint64_t base_alignment = 0);

    [[nodiscard]] const Plan &plan() const { return plan_; }
    [[nodiscard]] std::span<const Event> events() const { return events_; }
    [[nodiscard]] std::uint64_t base_alignment() const { return base_alignment_; }

    // The trace, up to its first refusal.
    [[nodiscard]] TrialResult run(std::uint64_t region_size, const Stop &stop = {}) const;

    // Whether a run tells of every larger region: TrialResult::reach.
    [[nodiscard]] bool tells_reach() const;

    // The smallest region above which all have room for a run of this reach. Below it some may,
    // too, by chance.
    [[nodiscard]] std::uint64_t region_for(std::uint64_t reach) const;

    // Whether `serves_from` may tell anything.
    [[nodiscard]] bool asks_room() const;

    // A region from which on every one serves the trace, as a run in this one tells, which is the
    // same in all of them; nothing if it does not tell, or runs out. One replay.
    [[nodiscard]] std::optional<std::uint64_t> serves_from(std::uint64_t region_size) const;

    // Where the trace's lifetimes lie in a region in which it runs, from the lowest of them, in the
    // order of Replay::offsets. Throws Error if it does not run.
    [[nodiscard]] std::vector<Bytes> placement(std::uint64_t region_size) const;

    // True once so many accesses to metadata and more were made; looked at now and then, so that a
    // plan far too slow for a long trace is known early.
    [[nodiscard]] bool exceeds(std::uint64_t region_size, std::uint64_t accesses) const;

  private:
    Plan plan_;
    Plan quick_; // the same over the build for trials: all but `exceeds`, which counts
    std::span<const Event> events_;
    std::uint64_t base_alignment_;
};

} // namespace heapfit
