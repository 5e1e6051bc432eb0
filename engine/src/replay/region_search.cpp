// SPDX-License-Identifier: Apache-2.0
// Doubling, one bisection and one scan; see region_search.hpp.
#include "heapfit/replay/region_search.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "heapfit/error.hpp"
#include "heapfit/profile/profile.hpp"
#include "heapfit/replay/replay.hpp"
#include "heapfit/replay/trials.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t unit = 8; // sizes are multiples of it
constexpr std::uint64_t largest_region = (std::uint64_t{1} << 32) - unit;
constexpr std::uint64_t scanned_sizes = 128;

constexpr std::uint64_t round_up(std::uint64_t size) {
    return (size + unit - 1) / unit * unit;
}

// `around` and 128 sizes, equally spaced from 0.9 to 1.3 times it, rounded up; equal ones once.
std::vector<std::uint64_t> sizes_around(std::uint64_t around) {
    constexpr std::uint64_t intervals = scanned_sizes - 1;
    std::vector<std::uint64_t> sizes{around};
    for (std::uint64_t k = 0; k <= intervals; k++) {
        const std::uint64_t tenths = around * (9 * intervals + 4 * k);
        sizes.push_back(round_up((tenths + 10 * intervals - 1) / (10 * intervals)));
    }
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

// A region that was tried.
struct Tried {
    std::uint64_t size;
    std::optional<std::uint64_t> footprint; // none: the trace does not run in it
};

// Doubles from U_max, or the smallest region if that is more, until the trace runs; the largest
// region is tried last.
Tried find_large_enough(const SearchSpace &space, Trials &trials) {
    const std::uint64_t start = round_up(std::max(space.u_max, space.smallest_region));
    for (std::uint64_t size = start; size < largest_region; size *= 2) {
        if (const auto footprint = trials.run(size)) {
            return {size, footprint};
        }
    }
    return {largest_region, trials.run(largest_region)};
}

// A size that works, next to one that does not: between `fails` and `works`.
std::uint64_t bisect(std::uint64_t fails, std::uint64_t works, Trials &trials) {
    while (works - fails > unit) {
        const std::uint64_t middle = round_up(fails + (works - fails) / 2);
        if (middle >= works) {
            break;
        }
        if (trials.run(middle)) {
            works = middle;
        } else {
            fails = middle;
        }
    }
    return works;
}

// Replays all sizes around `around` and reads R_min and R_safe off them.
void scan(std::uint64_t around, Trials &trials, RegionSearch &search) {
    search.searched = true;
    search.step =
        round_up((4 * around + 10 * (scanned_sizes - 1) - 1) / (10 * (scanned_sizes - 1)));
    search.sizes = sizes_around(around);
    trials.expect(search.sizes.size());
    for (const auto &footprint : trials.run(search.sizes)) {
        search.succeeded.push_back(footprint ? 1 : 0);
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
void settle_by_footprint(const SearchSpace &space, std::uint64_t footprint, Trials &trials,
                         RegionSearch &search) {
    const std::uint64_t size = std::max(round_up(footprint), space.smallest_region);
    if (!trials.run(size)) {
        throw Error("region: the trace does not run in the " + std::to_string(size) +
                    " bytes it needed of a larger region (the allocator's descriptor is wrong "
                    "to say that it ignores the region's end: report it)");
    }
    settle(size, search);
}

// True if the whole trace runs on the heap. Looks at `stop` between batches of events.
bool runs(Replay &replay, std::span<const Event> events, const std::stop_token &stop) {
    constexpr std::size_t batch = std::size_t{1} << 20;
    while (!events.empty() && !stop.stop_requested()) {
        const std::size_t count = std::min(batch, events.size());
        if (!replay.feed(events.first(count))) {
            return false;
        }
        events = events.subspan(count);
    }
    return events.empty();
}

Bytes peak_live_bytes(std::span<const Event> events) {
    Profile profile(1);
    profile.feed(events);
    return profile.result().u_max;
}

} // namespace

RegionSearch search_regions(const SearchSpace &space, const Trial &trial,
                            const SearchOptions &options) {
    RegionSearch search;
    search.u_max = space.u_max;
    if (std::max(space.u_max, space.smallest_region) > largest_region) {
        return search;
    }
    Trials trials(trial, options);
    trials.expect(scanned_sizes + 32);
    if (trials.run(space.smallest_region)) {
        settle(space.smallest_region, search);
        return search;
    }
    const Tried large = find_large_enough(space, trials);
    if (!large.footprint) {
        return search;
    }
    if (space.ignores_region_end) {
        settle_by_footprint(space, *large.footprint, trials, search);
        return search;
    }
    const auto steps =
        static_cast<std::uint64_t>(std::bit_width(large.size - space.smallest_region));
    trials.expect(steps + scanned_sizes + 1);
    scan(bisect(space.smallest_region, large.size, trials), trials, search);
    return search;
}

RegionSearch find_region(const Plan &plan, std::span<const Event> events,
                         const SearchOptions &options) {
    const SearchSpace space{plan.smallest_region(), peak_live_bytes(events),
                            plan.ignores_region_end()};
    const Trial trial = [&](std::uint64_t size,
                            const std::stop_token &stop) -> std::optional<std::uint64_t> {
        std::optional<HostHeap> heap = HostHeap::try_init(plan, {size, options.base_alignment});
        if (!heap) {
            return std::nullopt;
        }
        Replay replay(std::move(*heap));
        return runs(replay, events, stop) ? std::optional(replay.result().footprint) : std::nullopt;
    };
    return search_regions(space, trial, options);
}

} // namespace heapfit
