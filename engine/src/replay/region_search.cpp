// SPDX-License-Identifier: Apache-2.0
// First success, one bisection, one window and its edges; see region_search.hpp.
#include "heapfit/replay/region_search.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "heapfit/profile/u_max.hpp"
#include "heapfit/replay/forked_trials.hpp"
#include "heapfit/replay/parallel_trials.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t scanned_sizes = 128;     // decision 5
constexpr std::uint64_t doublings_expected = 32; // for progress, until it is known
constexpr std::uint64_t two_chunks = 32;         // bytes, of the smallest
constexpr std::uint64_t edge_parts = 5000;       // of U_max: an edge is known to 0.02 %
constexpr std::uint64_t sizes_at_once = 32;      // between those of the window
constexpr std::uint64_t part_below = 4;          // of the events for these: R_min matters less

constexpr std::uint64_t tenths(std::uint64_t size, std::uint64_t count) {
    return round_to_region((size * count + 9) / 10);
}

// All sizes tried for one answer, each once.
class Search {
  public:
    Search(const SearchSpace &space, const TrialOf &trial, const SearchOptions &options)
        : space_(space), options_(options), trials_(trial, options),
          once_([this](std::uint64_t size, const Stop &) { return tried(size); }) {}

    RegionSearch run() {
        search_.u_max = space_.u_max;
        if (std::max(space_.u_max, space_.smallest_region) <= largest_region) {
            trials_.expect(scanned_sizes + doublings_expected);
            find_regions();
            trials_.finish();
        }
        return std::move(search_);
    }

  private:
    using Sizes = std::map<std::uint64_t, TrialResult>;

    void find_regions() {
        const std::uint64_t also = round_to_region(options_.also);
        const bool is_broken = also > space_.smallest_region && !tried(also).runs;
        if (tried(space_.smallest_region).runs && !is_broken) {
            settle(space_.smallest_region);
            return;
        }
        const std::uint64_t least = std::max(space_.u_max, space_.smallest_region);
        const std::uint64_t from = is_broken ? std::max(least, also + region_unit) : least;
        const std::uint64_t roomy = space_.region_for ? std::min(2 * from, largest_region) : from;
        const TrialSeries large = first_success(once_, roomy, {});
        if (!large.region) {
            return;
        }
        if (space_.region_for && large.reach != 0 && settle_by_reach(large.reach)) {
            return;
        }
        if (space_.serves_from) {
            ask_what_serves(*large.region);
        }
        look_around(bisected(*large.region), largest_region);
    }

    // What one run in a large region proves of others is known from here on, if a run in the
    // smallest of them confirms it.
    void ask_what_serves(std::uint64_t large) {
        const std::optional<std::uint64_t> from = space_.serves_from(large);
        search_.events += tried(large).events;
        if (from && tried(*from).runs && failing_below(UINT64_MAX) < *from) {
            serving_ = *from;
        }
    }

    TrialResult tried(std::uint64_t size) {
        if (!sizes_.contains(size)) {
            try_now({&size, 1});
        }
        return sizes_.at(size);
    }

    // Those that are known to serve are noted, and not replayed: they place as a larger one did.
    void try_now(std::span<const std::uint64_t> ascending) {
        const auto known = std::ranges::lower_bound(ascending, serving_);
        const auto unknown = ascending.first(static_cast<std::size_t>(known - ascending.begin()));
        const std::vector<TrialResult> results = trials_.run(unknown, turns(unknown));
        for (std::size_t i = 0; i < unknown.size(); i++) {
            sizes_[unknown[i]] = results[i];
            failing_ = std::max(failing_, results[i].runs ? 0 : unknown[i]);
            search_.events += results[i].events - results[i].known;
            keep_if_lower(unknown[i], results[i]);
        }
        for (auto size = known; size != ascending.end(); ++size) {
            sizes_[*size] = {.runs = true};
        }
    }

    // The numbers of sizes that are tried one after the other.
    [[nodiscard]] std::vector<Turn> turns(std::span<const std::uint64_t> ascending) const {
        std::map<std::uint64_t, Turn> by_kind;
        for (std::size_t i = ascending.size(); i-- > 0;) {
            by_kind[space_.kind ? space_.kind(ascending[i]) : i].push_back(i);
        }
        std::vector<Turn> all;
        for (auto &[kind, turn] : by_kind) {
            all.push_back(std::move(turn));
        }
        return all;
    }

    void keep_if_lower(std::uint64_t size, const TrialResult &result) {
        if (result.runs && (search_.height_region == 0 || result.height < search_.height)) {
            search_.height = result.height;
            search_.height_region = size;
        }
    }

    // R that was not searched: one size, known to work.
    void settle(std::uint64_t size) {
        search_.r_min = search_.r_safe = size;
        search_.sizes.assign(1, size);
        search_.succeeded.assign(1, 1);
    }

    // R of an allocator that places alike wherever there is room, from what a run in a larger
    // region took. Below it each size is tried, as a last chunk may take more than it needs. A
    // block that has no room to grow at the end may find a hole, so that a trace that resizes may
    // run in far less, too. False if the trace does not run where it should.
    bool settle_by_reach(std::uint64_t reach) {
        const std::uint64_t most = std::max(space_.region_for(reach), space_.smallest_region);
        if (most > largest_region || !tried(most).runs || failing_below(UINT64_MAX) > most) {
            return false;
        }
        std::uint64_t size = most;
        while (size > space_.smallest_region && tried(size - region_unit).runs) {
            if (most - size >= space_.by_chance) {
                look_around(bisected(size), most);
                return true;
            }
            size -= region_unit;
        }
        settle(size);
        return true;
    }

    // The smallest size that works between `working` and the largest below it that fails, as far as
    // halving finds it.
    std::uint64_t bisected(std::uint64_t working, std::uint64_t resolution = region_unit) {
        const std::uint64_t failing = failing_below(working);
        return *bisect(once_, {failing, working, resolution}, {}).region;
    }

    // No further up than `most`.
    void look_around(std::uint64_t around, std::uint64_t most) {
        search_.searched = true;
        search_.step = options_.every_size
                           ? region_unit
                           : tenths((around + scanned_sizes - 2) / (scanned_sizes - 1), 4);
        std::uint64_t from = std::max(tenths(around, 9), space_.smallest_region);
        std::uint64_t to = std::min(tenths(around, 13), most);
        if (options_.is_safe_alone) { // the same sizes from `around` on
            from += (around - from + search_.step - 1) / search_.step * search_.step;
            from = std::min(from, to);
        }
        trials_.expect((std::max(std::min(to, serving_), from) - from) / search_.step + 1);
        scan(from, to);
        while (!options_.is_safe_alone && tenths(smallest_success(), 9) < from &&
               from > space_.smallest_region) {
            const std::uint64_t end = from;
            from = std::max(tenths(smallest_success(), 9), space_.smallest_region);
            scan(from, end);
        }
        while (failing_below(UINT64_MAX) >= to && to < most) {
            const std::uint64_t begin = to;
            to = std::min(tenths(to, 13), most);
            scan(begin, to);
        }
        close_in();
        try_above(std::min(to, serving_));
        if (!options_.is_safe_alone) {
            from = std::min(from, try_below());
        }
        read_off(from, to);
    }

    // Untried sizes from R_safe up to `top`, a few at a time, until that took its events; or twice
    // as many, while some of the last few fail.
    void try_above(std::uint64_t top) {
        auto safe = smallest_safe();
        const std::uint64_t begin = search_.events;
        std::uint64_t next = safe == sizes_.end() ? top : round_to_region(safe->first);
        bool is_open = true;
        while (next < top && search_.events - begin < options_.most_events * (is_open ? 2 : 1)) {
            std::vector<std::uint64_t> sizes;
            for (; next <= top && sizes.size() < sizes_at_once; next += region_unit) {
                if (!sizes_.contains(next)) {
                    sizes.push_back(next);
                }
            }
            try_now(sizes);
            const auto before = safe;
            safe = smallest_safe();
            is_open = safe != before;
        }
        if (options_.most_events != 0 && safe != sizes_.end()) {
            bisected(safe->first);
        }
    }

    // Untried sizes from R_min down to 0.9 times the smallest success, for a part of the events;
    // the last of them.
    std::uint64_t try_below() {
        const std::uint64_t most = search_.events + options_.most_events / part_below;
        std::uint64_t next = smallest_success();
        while (search_.events < most) {
            const std::uint64_t least =
                std::max(tenths(smallest_success(), 9), round_to_region(space_.smallest_region));
            std::vector<std::uint64_t> sizes;
            for (; next >= least && sizes.size() < sizes_at_once; next -= region_unit) {
                if (!sizes_.contains(next)) {
                    sizes.insert(sizes.begin(), next);
                }
            }
            if (sizes.empty()) {
                break;
            }
            try_now(sizes);
        }
        return next + region_unit;
    }

    // Both ends and sizes between them no more than a step apart.
    void scan(std::uint64_t from, std::uint64_t to) {
        std::vector<std::uint64_t> sizes;
        for (std::uint64_t size = from; size < to; size += search_.step) {
            sizes.push_back(round_to_region(size));
        }
        sizes.push_back(to);
        std::erase_if(sizes, [this](std::uint64_t size) { return sizes_.contains(size); });
        try_now(sizes);
    }

    // The edges of R_min and R_safe, to 0.02 % of U_max.
    void close_in() {
        const std::uint64_t part = space_.u_max / edge_parts / region_unit * region_unit;
        const std::uint64_t resolution = std::max(part, region_unit);
        if (!options_.is_safe_alone) {
            bisected(smallest_success(), resolution);
        }
        if (const auto safe = smallest_safe(); safe != sizes_.end()) {
            bisected(safe->first, resolution);
        }
    }

    void read_off(std::uint64_t from, std::uint64_t to) {
        if (!options_.is_safe_alone) {
            search_.r_min = smallest_success();
        }
        if (const auto safe = smallest_safe(); safe != sizes_.end()) {
            search_.r_safe = safe->first;
        }
        const auto end = sizes_.upper_bound(to);
        for (auto one = sizes_.lower_bound(from); one != end; ++one) {
            search_.sizes.push_back(one->first);
            search_.succeeded.push_back(one->second.runs ? 1 : 0);
            const auto next = std::next(one);
            if (next != end && one->first >= search_.r_safe.value_or(0) && one->first < serving_) {
                search_.events_left += ((next->first - one->first - 1) / region_unit) *
                                       (one->second.events + next->second.events) / 2;
            }
        }
    }

    [[nodiscard]] std::uint64_t smallest_success() const {
        return std::ranges::find_if(sizes_, [](const auto &one) { return one.second.runs; })->first;
    }

    // The smallest above all that failed; the end if the largest did.
    [[nodiscard]] Sizes::const_iterator smallest_safe() const {
        return sizes_.upper_bound(failing_below(UINT64_MAX));
    }

    // The largest that failed; 0: none.
    [[nodiscard]] std::uint64_t failing_below(std::uint64_t size) const {
        if (failing_ < size) {
            return failing_;
        }
        auto one = std::make_reverse_iterator(sizes_.lower_bound(size));
        one = std::find_if(one, sizes_.rend(), [](const auto &it) { return !it.second.runs; });
        return one == sizes_.rend() ? 0 : one->first;
    }

    const SearchSpace &space_;
    const SearchOptions &options_;
    ParallelTrials trials_;
    TrialOf once_;                       // tries what was not tried before
    Sizes sizes_;                        // tried, or known to serve
    std::uint64_t failing_ = 0;          // the largest that failed
    std::uint64_t serving_ = UINT64_MAX; // from here on all do
    RegionSearch search_;
};

} // namespace

RegionSearch search_regions(const SearchSpace &space, const TrialOf &trial,
                            const SearchOptions &options) {
    return Search(space, trial, options).run();
}

RegionSearch scan(const Trial &trial, const SearchOptions &options) {
    SearchSpace space{trial.plan().smallest_region(), u_max_of(trial.events())};
    ForkedTrials forked(trial);
    if (trial.tells_reach()) {
        space.region_for = [&trial](std::uint64_t reach) { return trial.region_for(reach); };
        space.by_chance = trial.plan().ignores_region_end() ? 0 : two_chunks;
    } else if (trial.asks_room()) {
        space.serves_from = [&trial](std::uint64_t size) { return trial.serves_from(size); };
    }
    if (space.region_for || space.serves_from) {
        space.kind = [&forked](std::uint64_t size) { return forked.kind(size); };
    }
    const TrialOf run = [&forked](std::uint64_t size, const Stop &stop) {
        return forked.run(size, stop);
    };
    return search_regions(space, run, options);
}

} // namespace heapfit
