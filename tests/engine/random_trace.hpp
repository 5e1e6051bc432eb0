// SPDX-License-Identifier: Apache-2.0
// Traces for tests: written event by event, or drawn from a seed.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit::test {

// Builds a valid trace; objects are numbered as they are allocated.
class TraceBuilder {
  public:
    ObjectId alloc(Bytes size) { return allocate(size, Op::alloc, 0); }
    ObjectId zeroed(Bytes size) { return allocate(size, Op::zeroed, 0); }
    ObjectId aligned(Bytes size, std::uint8_t log2) { return allocate(size, Op::aligned, log2); }
    void resize(ObjectId object, Bytes size) { events.push_back({size, object, Op::resize, 0, 0}); }
    void free(ObjectId object) { events.push_back({0, object, Op::free, 0, 0}); }

    std::vector<Event> events;

  private:
    ObjectId allocate(Bytes size, Op op, std::uint8_t log2) {
        events.push_back({size, next_, op, log2, 0});
        return next_++;
    }

    ObjectId next_ = 0;
};

// How a random trace is drawn. mt19937_64 gives the same numbers everywhere; no std distribution is
// used.
struct RandomTrace {
    std::uint64_t seed = 1;
    std::size_t events = 1000;
    std::size_t live_limit = 50;
    std::vector<Bytes> sizes = {8, 24, 40, 41, 100, 1000}; // drawn from evenly
    bool resizes = true;
};

inline std::vector<Event> draw(const RandomTrace &wish) {
    std::mt19937_64 random(wish.seed);
    TraceBuilder trace;
    std::vector<ObjectId> live;
    const auto size = [&] { return wish.sizes[random() % wish.sizes.size()]; };
    while (trace.events.size() < wish.events) {
        const std::uint64_t choice = random() % 8;
        if (live.empty() || (choice < 4 && live.size() < wish.live_limit)) {
            live.push_back(choice == 0   ? trace.zeroed(size())
                           : choice == 1 ? trace.aligned(size(), 3)
                                         : trace.alloc(size()));
            continue;
        }
        const std::size_t victim = random() % live.size();
        const Bytes new_size = size();
        if (wish.resizes && choice == 7 && new_size > 0) {
            trace.resize(live[victim], new_size);
            continue;
        }
        trace.free(live[victim]);
        live[victim] = live.back();
        live.pop_back();
    }
    return trace.events;
}

// The object's size after every event, the slow obvious way: sizes[t][object], -1 where it is not
// live.
inline std::vector<std::vector<std::int64_t>>
sizes_after_each_event(std::span<const Event> events) {
    std::vector<std::vector<std::int64_t>> history;
    std::vector<std::int64_t> now;
    for (const Event &event : events) {
        if (event.op < Op::resize) {
            now.push_back(static_cast<std::int64_t>(event.size));
        } else if (event.op == Op::free || event.size == 0) {
            now[event.object] = -1;
        } else {
            now[event.object] = static_cast<std::int64_t>(event.size);
        }
        history.push_back(now);
    }
    return history;
}

} // namespace heapfit::test
