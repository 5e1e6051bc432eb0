// SPDX-License-Identifier: Apache-2.0
// Which state a region goes on from, and which states are kept; see forked_trials.hpp.
#include "heapfit/replay/forked_trials.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "heapfit/profile/u_max.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t most_states = 16;                     // of one replay
constexpr std::uint64_t most_bytes = std::uint64_t{32} << 20; // of its states, about
constexpr std::uint64_t events_until_stop = std::uint64_t{1} << 20;
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// Bytes of an object in a state, about; and bytes copied in the time of an event, about.
constexpr std::uint64_t object_bytes = 16;
constexpr std::uint64_t copied_an_event = 1024;

// Events from one state to the next; `never` where a few take too much memory, or longer to copy
// than the replay that they save.
std::uint64_t between_states(std::uint64_t events, Bytes u_max) {
    const std::uint64_t state = std::max<Bytes>(u_max + object_bytes * events / 2, 1);
    const std::uint64_t states =
        std::min({most_states, most_bytes / state, copied_an_event * events / state});
    return states < 2 ? never : events / states + 1;
}

} // namespace

ForkedTrials::ForkedTrials(const Trial &trial)
    : trial_(trial), plan_(trial.plan().for_trials()),
      least_room_(room_of(round_to_region(u_max_of(trial.events()) * 7 / 8)).value_or(0)),
      between_(between_states(trial.events().size(), u_max_of(trial.events()))),
      tells_reach_(trial.tells_reach() && &plan_.at_region_end() == &plan_) {}

std::uint64_t ForkedTrials::Tried::alike_until(std::uint64_t room) const {
    const auto rise =
        std::ranges::find_if(rises, [room](const RoomRise &one) { return one.room > room; });
    return rise == rises.end() ? never : rise->event;
}

bool ForkedTrials::tells_alike() const {
    return plan_.at_region_end().allocator().room_alike != nullptr;
}

// Nothing of an allocator that does not tell, either.
std::optional<std::uint64_t> ForkedTrials::room_of(std::uint64_t size) const {
    const auto heap = HostHeap::try_init(plan_, {size, trial_.base_alignment()});
    const auto roomy = heap ? heap->roomy() : std::nullopt;
    const std::optional<hfit_reach> reach = roomy ? roomy->room() : std::nullopt;
    return reach ? std::optional<std::uint64_t>(reach->room) : std::nullopt;
}

std::uint64_t ForkedTrials::kind(std::uint64_t size) const {
    const std::optional<std::uint64_t> room = tells_alike() ? room_of(size) : std::nullopt;
    return room ? (size - *room) / plan_.alignment() : 0;
}

ForkedTrials::Kind &ForkedTrials::of_kind(std::uint64_t kind) {
    const std::lock_guard lock(mutex_);
    return kinds_[kind];
}

// What is higher than all that was in use at once lies between blocks of both ends, of which those
// of the upper one come down with the region's end.
TrialResult ForkedTrials::reached(std::uint64_t size, const Stop &stop) {
    const auto larger = reached_.lower_bound(size);
    if (larger == reached_.end() || size < larger->second.least) {
        const TrialResult result = trial_.run(size, stop);
        const std::uint64_t least = result.reach == 0 ? size : trial_.region_for(result.reach);
        reached_[size] = {result, least};
        return result;
    }
    TrialResult alike = larger->second.result;
    alike.known = alike.events;
    if (alike.height > alike.reach) {
        alike.height -= room_of(larger->first).value() - room_of(size).value();
    }
    return alike;
}

TrialResult ForkedTrials::run(std::uint64_t size, const Stop &stop) {
    if (tells_reach_) {
        return reached(size, stop);
    }
    const std::optional<std::uint64_t> room = tells_alike() ? room_of(size) : std::nullopt;
    if (!room || *room < least_room_) {
        return trial_.run(size, stop);
    }
    Kind &kind = of_kind((size - *room) / plan_.alignment());
    Tried now = tried(kind, size, *room, stop);
    const TrialResult result = now.result;
    if (result.runs && (!kind.serving || size < kind.serving->size)) {
        kind.serving = now;
    }
    kind.last = std::move(now);
    return result;
}

ForkedTrials::Tried ForkedTrials::tried(const Kind &kind, std::uint64_t size, std::uint64_t room,
                                        const Stop &stop) const {
    const Tried *parent = nullptr;
    std::uint64_t until = 0;
    for (const std::optional<Tried> *one : {&kind.serving, &kind.last}) {
        if (*one && size <= (*one)->size && (*one)->alike_until(room) > until) {
            parent = &**one;
            until = parent->alike_until(room);
        }
    }
    if (parent == nullptr) {
        return whole(size, stop);
    }
    if (until < parent->decided()) {
        return forked(*parent, size, until, stop);
    }
    Tried alike = *parent;
    alike.size = size;
    alike.result.known = alike.result.events;
    return alike;
}

// From the last state before it parts that can be made shorter.
ForkedTrials::Tried ForkedTrials::forked(const Tried &parent, std::uint64_t size,
                                         std::uint64_t until, const Stop &stop) const {
    Tried begun{size, {}, {}, parent.states};
    while (!begun.states.empty()) {
        const Replay::State &state = *begun.states.back();
        std::optional<Replay> replay;
        if (state.events() <= until && (replay = Replay::resumed(plan_, state, size))) {
            std::ranges::copy_if(parent.rises, std::back_inserter(begun.rises),
                                 [&](const RoomRise &one) { return one.event < state.events(); });
            begun.result.known = state.events();
            const bool keeps = until - state.events() > between_; // a later one would have done
            return finished(std::move(*replay), std::move(begun), keeps, stop);
        }
        begun.states.pop_back();
    }
    return whole(size, stop);
}

ForkedTrials::Tried ForkedTrials::whole(std::uint64_t size, const Stop &stop) const {
    HostHeap heap = HostHeap::init(plan_, {size, trial_.base_alignment()});
    const ReplayOptions asking = {.ask_alike = true, .alike_from = least_room_};
    return finished(Replay(std::move(heap), asking), {size, {}, {}, {}}, true, stop);
}

ForkedTrials::Tried ForkedTrials::finished(Replay replay, Tried begun, bool keeps_states,
                                           const Stop &stop) const {
    bool runs = true;
    while (runs && replay.events() < trial_.events().size()) {
        runs =
            feed_until_state(replay, stop) && (!keeps_states || keep_state(replay, begun.states));
    }
    const ReplayResult result = replay.result();
    begun.result = {.runs = runs,
                    .footprint = result.footprint,
                    .height = result.height,
                    .events = result.events,
                    .known = begun.result.known,
                    .placement_hash = result.placement_hash};
    begun.rises.insert(begun.rises.end(), replay.rises().begin(), replay.rises().end());
    return begun;
}

bool ForkedTrials::feed_until_state(Replay &replay, const Stop &stop) const {
    const std::span<const Event> left = trial_.events().subspan(replay.events());
    const std::uint64_t wanted = between_ == never ? never : between_ - replay.events() % between_;
    for (std::uint64_t fed = 0, most = std::min<std::uint64_t>(wanted, left.size()); fed < most;) {
        const std::uint64_t count = std::min(events_until_stop, most - fed);
        if (stop.is_requested() || !replay.feed(left.subspan(fed, count))) {
            return false;
        }
        fed += count;
    }
    return true;
}

// Behind the next event that changes the last free chunk and no other after it, as a
// resize may do.
bool ForkedTrials::keep_state(Replay &replay, States &states) const {
    std::uint64_t before = replay.last_free();
    for (std::uint64_t i = 0; i < between_; i++) {
        const std::span<const Event> left = trial_.events().subspan(replay.events());
        if (left.empty()) {
            return true;
        }
        if (!replay.feed(left.first(1))) {
            return false;
        }
        const std::uint64_t now = replay.last_free();
        if (now != before && left.front().op != Op::resize) {
            if (std::optional<Replay::State> state = replay.state()) {
                states.push_back(std::make_shared<const Replay::State>(std::move(*state)));
            }
            return true;
        }
        before = now;
    }
    return true;
}

} // namespace heapfit
