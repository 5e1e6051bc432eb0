// SPDX-License-Identifier: Apache-2.0
// Trace after trace, until one is refused; see fleet_trial.hpp.
#include "heapfit/replay/fleet_trial.hpp"

#include <algorithm>

namespace heapfit {

namespace {

// Both traces on heaps of their own.
TrialResult together(const TrialResult &all, const TrialResult &one) {
    return {.runs = one.runs,
            .is_region = one.is_region,
            .footprint = std::max(all.footprint, one.footprint),
            .reach = all.reach == 0 || one.reach == 0 ? 0 : std::max(all.reach, one.reach),
            .height = std::max(all.height, one.height),
            .events = all.events + one.events};
}

} // namespace

FleetTrial::FleetTrial(const Plan &plan, std::span<const std::span<const Event>> traces,
                       HardestFirst &hardest, std::uint64_t base_alignment)
    : plan_(plan), traces_(traces), hardest_(hardest), base_alignment_(base_alignment) {}

TrialResult FleetTrial::run(std::uint64_t region_size) const {
    TrialResult all;
    for (auto number = hardest_.begin(); number != hardest_.end(); ++number) {
        const TrialResult one = Trial(plan_, traces_[*number], base_alignment_).run(region_size);
        all = number == hardest_.begin() ? one : together(all, one);
        if (!one.runs) {
            std::rotate(hardest_.begin(), number, number + 1);
            break;
        }
    }
    return all;
}

std::uint64_t FleetTrial::region_for(std::uint64_t reach) const {
    return Trial(plan_, {}, base_alignment_).region_for(reach);
}

} // namespace heapfit
