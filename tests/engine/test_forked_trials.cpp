// SPDX-License-Identifier: Apache-2.0
// Trials that go on from where they part, beside replays of each region from the beginning.
#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "check.hpp"
#include "heapfit/profile/u_max.hpp"
#include "heapfit/replay/forked_trials.hpp"
#include "plans.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::RandomTrace;

namespace {

// Every region from the live bytes on that makes a difference, and some beyond.
std::vector<std::uint64_t> sizes_for(const Trial &trial) {
    const std::uint64_t from = round_to_region(u_max_of(trial.events()) * 15 / 16);
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t size = from; size < 2 * from + trial.plan().smallest_region();
         size += size < from * 5 / 4 ? 8 : 88) {
        sizes.push_back(size);
    }
    return sizes;
}

struct Count {
    std::uint64_t done = 0;
    std::uint64_t known = 0;
    std::uint64_t refused = 0;
};

void compare(const Trial &trial, std::span<const std::uint64_t> sizes, Count &count) {
    ForkedTrials forked(trial);
    for (const std::uint64_t size : sizes) {
        const TrialResult one = forked.run(size);
        const TrialResult other = trial.run(size);
        CHECK(one.runs == other.runs && one.is_region == other.is_region);
        CHECK(one.events == other.events && one.height == other.height);
        if (one.known < one.events || !trial.tells_reach()) {
            CHECK(one.placement_hash == other.placement_hash && one.footprint == other.footprint);
        }
        CHECK(one.known <= one.events && other.known == 0);
        count.done += one.events;
        count.known += one.known;
        count.refused += one.runs ? 0 : 1;
    }
}

TEST(each_region_is_told_as_if_it_was_replayed_alone) {
    Count count;
    const std::vector<Plan> all = test::tlsf_plans({4, 8, 16});
    for (std::size_t i = 0; i < all.size(); i += all.size() / test::turns(all.size())) {
        for (std::uint64_t seed = 1; seed <= 2; seed++) {
            RandomTrace wish{.seed = seed, .events = 400, .resizes = seed % 2 == 0};
            wish.sizes = {1, 8, 24, 40, 41, 100, 300, 700, 1000};
            wish.sizes.resize(seed == 1 ? 9 : 7);
            const std::vector<Event> events = draw(wish);
            const Trial trial(all[i], events);
            std::vector<std::uint64_t> sizes = sizes_for(trial);
            std::ranges::reverse(sizes);
            compare(trial, sizes, count);
            std::mt19937_64 random(seed);
            std::ranges::shuffle(sizes, random);
            compare(trial, std::span(sizes).first(sizes.size() / 4), count);
        }
    }
    CHECK(count.refused > 1000 && count.known > count.done / 4);
}

// A stack of blocks of which the last one grows most of the time, into the free chunk behind it.
std::vector<Event> growing(std::uint64_t seed, std::size_t events) {
    std::mt19937_64 random(seed);
    test::TraceBuilder trace;
    std::vector<std::pair<ObjectId, Bytes>> stack;
    while (trace.events.size() < events) {
        const std::uint64_t choice = random() % 8;
        if (stack.empty() || choice == 0) {
            stack.emplace_back(trace.alloc(100), 100);
        } else if (choice == 1) {
            trace.free(stack.back().first);
            stack.pop_back();
        } else if (stack.back().second < 2000) {
            stack.back().second += random() % 24;
            trace.resize(stack.back().first, stack.back().second);
        }
    }
    return trace.events;
}

// What is left of the free chunk may be too little for a chunk: then the block takes it, too.
TEST(each_region_into_whose_last_chunk_blocks_grow_is_told_likewise) {
    Count count;
    const std::vector<Event> events = growing(1, 400);
    const std::vector<Event> few = growing(1, 100);
    for (const std::uint64_t alignment : {4u, 8u, 16u}) {
        const Plan plan = test::plain("tlsf", {{"alignment", alignment}});
        const Trial trial(plan, events);
        std::vector<std::uint64_t> sizes = sizes_for(trial);
        std::ranges::reverse(sizes);
        compare(trial, sizes, count);
        const Trial short_trial(plan, few);
        compare(short_trial, sizes_for(short_trial), count);
    }
    CHECK(count.refused > 100 && count.known > count.done / 4);
}

// Blocks that find no room to grow at the region's end move to a hole, so that each few regions
// place otherwise.
TEST(each_region_that_a_reach_does_for_is_told_likewise) {
    Count count;
    for (const Plan &plan : test::reaching_plans()) {
        for (const std::uint64_t seed : {1u, 2u}) {
            const std::vector<Event> events =
                seed == 1 ? growing(seed, 300)
                          : draw({.seed = seed, .events = 300, .live_limit = 20});
            const Trial trial(plan, events);
            std::vector<std::uint64_t> sizes = sizes_for(trial);
            std::ranges::reverse(sizes);
            compare(trial, std::span(sizes).subspan(sizes.size() / 4), count);
        }
    }
    CHECK(count.refused > 1000 && count.known > count.done / 2);
}

} // namespace
