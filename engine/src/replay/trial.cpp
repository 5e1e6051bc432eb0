// SPDX-License-Identifier: Apache-2.0
// Efforts that try one size after the other; see trial.hpp.
#include "heapfit/replay/trial.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"
#include "heapfit/replay/replay.hpp"

namespace heapfit {

namespace {

// Between two looks at whether to stop: 20 ms of a replay.
constexpr std::size_t events_until_stop = std::size_t{1} << 20;
// Between two looks at the accesses: few, as the slowest plans do thousands an event.
constexpr std::size_t events_until_count = 20'000;

// Trials one after the other, and what was done for them.
class Sequence {
  public:
    Sequence(const TrialOf &trial, const BeforeReplay &before) : trial_(trial), before_(before) {}

    // Keeps a size that works as the answer, one that fails as the last tried in vain.
    bool works(std::uint64_t size) {
        const TrialResult result = tried(size);
        if (result.runs) {
            series_.region = size;
            series_.footprint = result.footprint;
            series_.reach = result.reach;
        } else {
            series_.failing = size;
        }
        return result.runs;
    }

    // As `works`, for a size that may not be the answer.
    bool would_work(std::uint64_t size) { return tried(size).runs; }

    [[nodiscard]] TrialSeries series() const { return series_; }

  private:
    TrialResult tried(std::uint64_t size) {
        if (before_) {
            before_(series_.replays, series_.events);
        }
        const TrialResult result = trial_(size, {});
        series_.replays += result.is_region ? 1 : 0;
        series_.events += result.events;
        return result;
    }

    const TrialOf &trial_;
    const BeforeReplay &before_;
    TrialSeries series_;
};

// Without wrapping below 0, which is no region.
std::uint64_t below(std::uint64_t size, std::uint64_t by) {
    return size - std::min(size, by);
}

std::uint64_t middle_of(const Bisection &between) {
    return round_to_region(between.failing + (between.working - between.failing) / 2);
}

// Feeds pieces of so many events until one is refused, or `goes_on` says no.
template <typename GoesOn>
bool feed_pieces(Replay &replay, std::span<const Event> events, std::size_t length,
                 const GoesOn &goes_on) {
    while (!events.empty() && goes_on()) {
        const std::size_t count = std::min(length, events.size());
        if (!replay.feed(events.first(count))) {
            return false;
        }
        events = events.subspan(count);
    }
    return events.empty();
}

} // namespace

TrialSeries first_success(const TrialOf &trial, std::uint64_t from, const BeforeReplay &before) {
    Sequence sequence(trial, before);
    std::uint64_t size = round_to_region(from);
    if (size > largest_region) {
        return sequence.series();
    }
    while (!sequence.works(size) && size < largest_region) {
        size = std::min(2 * size, largest_region);
    }
    return sequence.series();
}

TrialSeries descend(const TrialOf &trial, const Descent &descent, const BeforeReplay &before) {
    Sequence sequence(trial, before);
    std::uint64_t size = descent.from;
    if (!sequence.works(size)) {
        return sequence.series();
    }
    bool grows = true;
    for (std::uint64_t step = descent.step; step >= descent.step;
         step = grows ? step * 2 : step / 2) {
        if (sequence.works(below(size, step))) {
            size = below(size, step);
        } else {
            grows = false;
        }
    }
    TrialSeries series = sequence.series();
    std::optional<std::uint64_t> safe = size;
    for (const std::uint64_t more : descent.above) {
        if (!sequence.would_work(size + more)) {
            safe.reset();
        } else if (!safe) {
            safe = size + more;
        }
    }
    series.region = safe.value_or(largest_region);
    series.replays = sequence.series().replays;
    series.events = sequence.series().events;
    return series;
}

TrialSeries bisect(const TrialOf &trial, const Bisection &bisection, const BeforeReplay &before) {
    Sequence sequence(trial, before);
    Bisection between = bisection;
    while (between.working > between.failing + between.resolution) {
        const std::uint64_t middle = middle_of(between);
        if (middle >= between.working) {
            break;
        }
        (sequence.works(middle) ? between.working : between.failing) = middle;
    }
    TrialSeries series = sequence.series();
    series.region = between.working;
    return series;
}

Trial::Trial(const Plan &plan, std::span<const Event> events, std::uint64_t base_alignment)
    : plan_(plan), quick_(plan.for_trials()), events_(events), base_alignment_(base_alignment) {}

TrialResult Trial::run(std::uint64_t region_size, const Stop &stop) const {
    std::optional<HostHeap> heap = HostHeap::try_init(quick_, {region_size, base_alignment_});
    if (!heap) {
        return {.is_region = false};
    }
    Replay replay(std::move(*heap));
    const bool runs =
        feed_pieces(replay, events_, events_until_stop, [&stop] { return !stop.is_requested(); });
    const ReplayResult result = replay.result();
    return {.runs = runs,
            .footprint = result.footprint,
            .reach = replay.reach(),
            .height = result.height,
            .events = result.events,
            .placement_hash = result.placement_hash};
}

bool Trial::tells_reach() const {
    if (quick_.ignores_region_end()) {
        return true;
    }
    const Plan &last = quick_.at_region_end();
    const auto heap = HostHeap::try_init(last, {last.smallest_region(), base_alignment_});
    return last.allocator().reach != nullptr && heap && heap->reach();
}

// A region of `control_jump` bytes more has never less room: of so many bytes no more than that go
// to control structures at once.
std::uint64_t Trial::region_for(std::uint64_t reach) const {
    constexpr std::uint64_t control_jump = 64;
    if (quick_.ignores_region_end()) {
        return round_to_region(reach);
    }
    const auto missing = [&](std::uint64_t size) {
        const auto heap = HostHeap::try_init(quick_, {size, base_alignment_});
        const auto roomy = heap ? heap->roomy() : std::nullopt;
        const std::optional<hfit_reach> there = roomy ? roomy->room() : std::nullopt;
        return there ? below(reach + there->chunk, there->room) : region_unit;
    };
    const bool is_behind = &quick_.at_region_end() != &quick_;
    std::uint64_t region = round_to_region(reach + (is_behind ? quick_.smallest_region() : 0));
    for (std::uint64_t size = region; size <= region + control_jump && size <= largest_region;) {
        const std::uint64_t lacks = missing(size);
        size += std::max(round_to_region(lacks), region_unit);
        region = lacks == 0 ? region : size;
    }
    return region;
}

bool Trial::asks_room() const {
    return quick_.at_region_end().allocator().room_for != nullptr;
}

std::optional<std::uint64_t> Trial::serves_from(std::uint64_t region_size) const {
    std::optional<HostHeap> heap = HostHeap::try_init(quick_, {region_size, base_alignment_});
    const auto roomy = heap ? heap->roomy() : std::nullopt;
    if (!roomy || roomy->allocator->room_for == nullptr) {
        return std::nullopt;
    }
    Replay replay(std::move(*heap), {.ask_room = true});
    const bool runs = replay.feed(events_);
    const std::optional<std::uint64_t> room = replay.room();
    if (!runs || !room) {
        return std::nullopt;
    }
    const std::uint64_t region = region_for(*room);
    return region <= region_size ? std::optional(region) : std::nullopt;
}

std::vector<Bytes> Trial::placement(std::uint64_t region_size) const {
    Replay replay(HostHeap::init(quick_, {region_size, base_alignment_}), {.keep_offsets = true});
    if (!replay.feed(events_)) {
        throw Error("placement: the trace does not run in " + std::to_string(region_size) +
                    " bytes");
    }
    std::vector<Bytes> offsets = replay.offsets();
    const auto lowest = std::min_element(offsets.begin(), offsets.end());
    const Bytes from = lowest == offsets.end() ? 0 : *lowest;
    for (Bytes &one : offsets) {
        one -= from;
    }
    return offsets;
}

bool Trial::exceeds(std::uint64_t region_size, std::uint64_t accesses) const {
    std::optional<HostHeap> heap = HostHeap::try_init(plan_, {region_size, base_alignment_});
    if (!heap) {
        return false;
    }
    Replay replay(std::move(*heap));
    const auto has_exceeded = [&replay, accesses] {
        const ReplayResult result = replay.result();
        return result.loads + result.stores > accesses;
    };
    feed_pieces(replay, events_, events_until_count, [&] { return !has_exceeded(); });
    return has_exceeded();
}

} // namespace heapfit
