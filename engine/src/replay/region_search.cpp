// SPDX-License-Identifier: Apache-2.0
// First success, one bisection and one scan; see region_search.hpp.
#include "heapfit/replay/region_search.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "heapfit/error.hpp"
#include "heapfit/profile/profile.hpp"
#include "heapfit/replay/parallel_trials.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t scanned_sizes = 128;     // docs/decisions/0005
constexpr std::uint64_t doublings_expected = 32; // for progress, until it is known

// `around` and 128 sizes, equally spaced from 0.9 to 1.3 times it, rounded up; equal ones once.
std::vector<std::uint64_t> sizes_around(std::uint64_t around) {
    constexpr std::uint64_t intervals = scanned_sizes - 1;
    std::vector<std::uint64_t> sizes{around};
    for (std::uint64_t k = 0; k <= intervals; k++) {
        const std::uint64_t tenths = around * (9 * intervals + 4 * k);
        sizes.push_back(round_to_region((tenths + 10 * intervals - 1) / (10 * intervals)));
    }
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

// Replays all sizes around `around` and reads R_min and R_safe off them.
void scan_around(std::uint64_t around, ParallelTrials &trials, RegionSearch &search) {
    search.searched = true;
    search.step =
        round_to_region((4 * around + 10 * (scanned_sizes - 1) - 1) / (10 * (scanned_sizes - 1)));
    search.sizes = sizes_around(around);
    trials.expect(search.sizes.size());
    for (const TrialResult &result : trials.run(search.sizes)) {
        search.succeeded.push_back(result.runs ? 1 : 0);
    }
    for (std::size_t i = search.sizes.size(); i-- > 0;) {
        if (search.succeeded[i] != 0) {
            search.r_min = search.sizes[i];
            const bool is_safe =
                std::ranges::count(search.succeeded.begin() + static_cast<std::ptrdiff_t>(i),
                                   search.succeeded.end(), 0) == 0;
            search.r_safe = is_safe ? search.sizes[i] : search.r_safe;
        }
    }
}

// R that was not searched: one size, known to work.
void settle(std::uint64_t size, RegionSearch &search) {
    search.r_min = search.r_safe = size;
    search.sizes.assign(1, size);
    search.succeeded.assign(1, 1);
}

// R of an allocator whose placement does not depend on the region's end, from its footprint in a
// larger region.
void settle_by_footprint(const SearchSpace &space, std::uint64_t footprint, ParallelTrials &trials,
                         RegionSearch &search) {
    const std::uint64_t size = std::max(round_to_region(footprint), space.smallest_region);
    if (!trials.run(size).runs) {
        throw Error("region: the trace does not run in the " + std::to_string(size) +
                    " bytes it needed of a larger region (the allocator's descriptor is wrong "
                    "to say that it ignores the region's end: report it)");
    }
    settle(size, search);
}

Bytes peak_live_bytes(std::span<const Event> events) {
    Profile profile(1);
    profile.feed(events);
    return profile.result().u_max;
}

} // namespace

RegionSearch search_regions(const SearchSpace &space, const TrialOf &trial,
                            const SearchOptions &options) {
    RegionSearch search;
    search.u_max = space.u_max;
    if (std::max(space.u_max, space.smallest_region) > largest_region) {
        return search;
    }
    ParallelTrials trials(trial, options);
    const TrialOf watched = [&trials](std::uint64_t size, const std::stop_token &) {
        return trials.run(size);
    };
    trials.expect(scanned_sizes + doublings_expected);
    if (trials.run(space.smallest_region).runs) {
        settle(space.smallest_region, search);
        return search;
    }
    const TrialSeries large =
        first_success(watched, std::max(space.u_max, space.smallest_region), {});
    if (!large.region) {
        return search;
    }
    if (space.ignores_region_end) {
        settle_by_footprint(space, large.footprint, trials, search);
        return search;
    }
    const auto steps =
        static_cast<std::uint64_t>(std::bit_width(*large.region - space.smallest_region));
    trials.expect(steps + scanned_sizes + 1);
    const Bisection between{space.smallest_region, *large.region, region_unit, Middle::rounded_up};
    scan_around(*bisect(watched, between, {}).region, trials, search);
    return search;
}

RegionSearch scan(const Trial &trial, const SearchOptions &options) {
    const SearchSpace space{trial.plan().smallest_region(), peak_live_bytes(trial.events()),
                            trial.plan().ignores_region_end()};
    const TrialOf run = [&trial](std::uint64_t size, const std::stop_token &stop) {
        return trial.run(size, stop);
    };
    return search_regions(space, run, options);
}

} // namespace heapfit
