// SPDX-License-Identifier: Apache-2.0
// One plan under several traces, each on a heap of its own: a region serves that serves them all.
//
//   hardest first   | 7 | 2 | 0 | 1 | 3 | ...     a trace that is refused moves to the front,
//                                                 and the rest is not replayed
//
// A search tries regions just below the best so far, and what is too small for one of a thousand
// traces is most often too small for the one that was refused last. So what fails costs about one
// trace; what serves is replayed whole. The order changes no answer, only the events that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/event.hpp"
#include "heapfit/replay/plan.hpp"
#include "heapfit/replay/trial.hpp"

namespace heapfit {

// The traces' numbers in the order in which they are replayed, whatever the plan.
using HardestFirst = std::vector<std::size_t>;

// Traces, plan and order must outlive it. For one thread.
class FleetTrial {
  public:
    // `hardest` has each number of a trace once.
    FleetTrial(const Plan &plan, std::span<const std::span<const Event>> traces,
               HardestFirst &hardest, std::uint64_t base_alignment = 0);

    // The most of what each trace took, and the events of all together. `reach` is 0 where that of
    // one trace is. It does not run if one trace does not, which then is the first of the order.
    [[nodiscard]] TrialResult run(std::uint64_t region_size) const;

    // As those of Trial: whatever the traces, they are the plan's.
    [[nodiscard]] std::uint64_t region_for(std::uint64_t reach) const;

  private:
    const Plan &plan_;
    std::span<const std::span<const Event>> traces_;
    HardestFirst &hardest_;
    std::uint64_t base_alignment_;
};

} // namespace heapfit
