// SPDX-License-Identifier: Apache-2.0
// Compiling a trace to steps, and counting pools along them; see pool_replay.hpp.
#include "heapfit/budget/pool_replay.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>

#include "budget/pool_layout.hpp"
#include "heapfit/budget/pool_choice.hpp"
#include "heapfit/error.hpp"
#include "heapfit/replay/plan.hpp"
#include "heapfit/trace/follow.hpp"

namespace heapfit {

namespace {

// Where each of the laid-out pools stands among those given.
std::vector<std::uint32_t> given_places(std::span<const hfit_pool> pools,
                                        std::span<const PoolShape> shapes) {
    std::vector<std::uint32_t> places;
    for (const hfit_pool &pool : pools) {
        const auto found = std::ranges::find(shapes, pool.size, &PoolShape::size);
        places.push_back(static_cast<std::uint32_t>(found - shapes.begin()));
    }
    return places;
}

} // namespace

// A visitor of `follow` that writes the steps down.
struct PoolReplay::Builder {
    PoolReplay &replay;
    const PoolChoice &choice;
    std::span<const hfit_pool> pools;
    std::span<const std::uint32_t> places; // of each of `pools`, where it was given
    std::unordered_map<Bytes, std::uint16_t> known = {};
    std::vector<std::uint32_t> free_slots = {};

    bool allocated(std::size_t, const Event &event, std::uint32_t &slot) {
        if (free_slots.empty()) {
            free_slots.push_back(static_cast<std::uint32_t>(replay.slots_++));
        }
        slot = free_slots.back();
        free_slots.pop_back();
        replay.steps_.push_back({slot, class_of(event.size), Kind::alloc});
        return true;
    }

    bool resized(std::size_t, const Event &event, const std::uint32_t &slot) {
        replay.steps_.push_back({slot, class_of(event.size), Kind::resize});
        return true;
    }

    bool freed(std::size_t, const Event &, const std::uint32_t &slot) {
        free_slots.push_back(slot);
        replay.steps_.push_back({slot, 0, Kind::free});
        return true;
    }

  private:
    std::uint16_t class_of(Bytes size) {
        const auto found = known.find(size);
        if (found != known.end()) {
            return found->second;
        }
        const SizeClass made = make_class(size);
        auto &classes = replay.classes_;
        const auto same = std::ranges::find(classes, made);
        if (same == classes.end() && classes.size() > std::numeric_limits<std::uint16_t>::max()) {
            throw Error("pools: too many sizes are told apart (use fewer pools)");
        }
        const auto number = static_cast<std::uint16_t>(same - classes.begin());
        if (same == classes.end()) {
            classes.push_back(made);
        }
        known.emplace(size, number);
        return number;
    }

    [[nodiscard]] SizeClass make_class(Bytes size) const {
        SizeClass made{choice.all(size), places.back(), std::vector<bool>(pools.size())};
        for (std::uint32_t &pool : made.pools) {
            pool = places[pool];
        }
        if (!made.pools.empty()) {
            made.first = made.pools.front();
        }
        for (std::size_t rank = 0; rank < pools.size(); rank++) {
            made.fits[places[rank]] = pools[rank].block_size >= size;
        }
        return made;
    }
};

PoolReplay::PoolReplay(std::span<const Event> events, std::span<const PoolShape> shapes,
                       std::uint32_t alignment, std::uint32_t stretches)
    : pools_(shapes.size()) {
    std::vector<hfit_pool> pools = sort_pools(shapes);
    lay_out(pools, alignment);
    const PoolChoice choice(find_allocator("class_pools"), pools, alignment);
    const std::vector<std::uint32_t> places = given_places(pools, shapes);
    Builder builder{*this, choice, pools, places};
    ObjectTable<std::uint32_t> objects;
    steps_.reserve(events.size());
    std::size_t done = 0;
    for (std::uint32_t stretch = 1; stretch <= stretches; stretch++) {
        const std::size_t end = events.size() * stretch / stretches;
        follow_all(events.subspan(done, end - done), done, objects, builder);
        ends_.push_back(steps_.size());
        done = end;
    }
}

// The state of one replay.
struct PoolReplay::Pass {
    static constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

    const PoolReplay &replay;
    bool falls_back;                   // from a full pool to the next
    std::vector<std::uint32_t> left;   // free blocks of each pool
    std::vector<std::uint32_t> placed; // by slot: the pool of its object
    std::uint64_t *requests = nullptr; // of the stretch
    std::uint64_t *refused = nullptr;

    void take(const Step &step) {
        std::uint32_t &pool = placed[step.slot];
        if (step.kind == Kind::alloc) {
            pool = enter(replay.classes_[step.size_class]);
        } else if (pool != nowhere) {
            step.kind == Kind::free ? void(left[pool]++)
                                    : resize(replay.classes_[step.size_class], pool);
        }
    }

  private:
    // The pool that serves a request; `nowhere` if it is refused.
    std::uint32_t enter(const SizeClass &wish) {
        requests[wish.first]++;
        for (const std::uint32_t pool : wish.pools) {
            if (left[pool] > 0) {
                left[pool]--;
                return pool;
            }
            if (!falls_back) {
                break;
            }
        }
        refused[wish.first]++;
        return nowhere;
    }

    // As the pools' own resize: a block stays where its pool is the first choice for the new size,
    // else moves, and stays after all where nothing else is free, it fits and there is a fall-back.
    void resize(const SizeClass &wish, std::uint32_t &pool) {
        if (!wish.pools.empty() && pool == wish.first) {
            requests[pool]++;
            return;
        }
        const std::uint32_t moved = enter(wish);
        if (moved != nowhere) {
            left[pool]++;
            pool = moved;
        } else if (falls_back && wish.fits[pool]) {
            refused[wish.first]--;
        }
    }
};

PoolRefusals PoolReplay::run(std::span<const std::uint32_t> counts, bool falls_back) const {
    if (counts.size() != pools_) {
        throw Error("pools: " + std::to_string(counts.size()) + " counts for " +
                    std::to_string(pools_) + " pools");
    }
    const std::size_t cells = ends_.size() * pools_;
    PoolRefusals found{std::vector<std::uint64_t>(cells), std::vector<std::uint64_t>(cells)};
    Pass pass{
        *this, falls_back, {counts.begin(), counts.end()}, std::vector(slots_, Pass::nowhere)};
    std::size_t next = 0;
    for (std::size_t stretch = 0; stretch < ends_.size(); stretch++) {
        pass.requests = found.requests.data() + stretch * pools_;
        pass.refused = found.refused.data() + stretch * pools_;
        for (; next < ends_[stretch]; next++) {
            pass.take(steps_[next]);
        }
    }
    return found;
}

} // namespace heapfit
