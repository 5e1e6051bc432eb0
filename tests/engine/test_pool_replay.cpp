// SPDX-License-Identifier: Apache-2.0
// Counted pools against the allocator itself: the same requests, the same refusals.
#include <numeric>

#include "check.hpp"
#include "heapfit/budget/pool_replay.hpp"
#include "heapfit/replay/replay.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::draw;
using heapfit::test::RandomTrace;

namespace {

using Counts = std::vector<std::uint32_t>;
using Cells = std::vector<std::uint64_t>;

ReplayResult on_the_allocator(std::span<const PoolShape> shapes, const Counts &counts,
                              std::span<const Event> events, bool falls_back) {
    std::vector<PoolSpec> pools;
    for (std::size_t i = 0; i < shapes.size(); i++) {
        pools.push_back({shapes[i].size, counts[i], shapes[i].is_exact});
    }
    const std::uint32_t overflow = falls_back ? 0 : 2;
    const Plan plan("class_pools", {{"alignment", 8}, {"overflow", overflow}}, pools, {});
    Replay replay(HostHeap::init(plan, {plan.smallest_region(), 16}), {.keep_going = true});
    (void)replay.feed(events);
    return replay.result();
}

std::uint64_t sum(const Cells &cells) {
    return std::accumulate(cells.begin(), cells.end(), std::uint64_t{0});
}

void check_refusals(const PoolReplay &replay, std::span<const PoolShape> pools,
                    const Counts &counts, std::span<const Event> events, bool falls_back) {
    if (!falls_back && std::ranges::find(counts, 0U) != counts.end()) {
        return; // the allocator leaves empty pools out: the next one is asked first
    }
    const ReplayResult expected = on_the_allocator(pools, counts, events, falls_back);
    const PoolRefusals found = replay.run(counts, falls_back);
    CHECK(sum(found.refused) == expected.refusals);
    CHECK(sum(found.requests) == expected.allocations + expected.resizes);
}

TEST(refusals_are_those_of_the_allocator) {
    const std::vector<PoolShape> pools = {
        {1000, true}, {24, true}, {128, false}, {64, false}, {37, true}};
    const std::vector<Counts> some = {{3, 3, 3, 3, 3}, {2, 1, 3, 2, 1}, {9, 0, 2, 1, 4},
                                      {0, 5, 0, 5, 0}, {6, 2, 7, 0, 1}, {0, 0, 0, 0, 0}};
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        const auto events = draw(RandomTrace{
            .seed = seed, .sizes = {0, 8, 24, 30, 37, 38, 60, 100, 128, 900, 1000, 1001}});
        const PoolReplay replay(events, pools, 8, 7);
        for (const Counts &counts : some) {
            check_refusals(replay, pools, counts, events, true);
            check_refusals(replay, pools, counts, events, false);
        }
    }
}

TEST(a_refusal_counts_for_the_pool_that_was_the_first_choice) {
    const std::vector<PoolShape> pools = {{40, true}, {64, false}};
    test::TraceBuilder trace;
    trace.alloc(40);
    trace.alloc(40); // the pool of 64 helps out
    trace.alloc(40); // nobody has a block
    trace.alloc(64);
    const PoolRefusals found = PoolReplay(trace.events, pools, 8, 2).run(Counts{1, 1});
    CHECK((found.requests == Cells{2, 0, 1, 1})); // of the first half, then of the second
    CHECK((found.refused == Cells{0, 0, 1, 1}));
    const PoolRefusals alone = PoolReplay(trace.events, pools, 8, 2).run(Counts{1, 1}, false);
    CHECK((alone.refused == Cells{1, 0, 1, 0}));
}

TEST(what_is_above_the_largest_pool_is_refused_there) {
    const std::vector<PoolShape> pools = {{128, false}, {64, false}};
    test::TraceBuilder trace;
    trace.alloc(129);
    const PoolRefusals found = PoolReplay(trace.events, pools, 8, 1).run(Counts{5, 5});
    CHECK((found.refused == Cells{1, 0}));
}

TEST(a_resize_that_finds_no_other_block_keeps_its_own_if_that_fits) {
    const std::vector<PoolShape> pools = {{64, false}, {128, false}};
    test::TraceBuilder trace;
    const ObjectId small = trace.alloc(10);
    const ObjectId large = trace.alloc(100);
    trace.resize(large, 20); // would move to the pool of 64, which is taken
    trace.resize(small, 90); // does not fit where it is
    const PoolRefusals found = PoolReplay(trace.events, pools, 8, 1).run(Counts{1, 1});
    CHECK((found.refused == Cells{0, 1}));
}

TEST(a_count_is_needed_for_each_pool) {
    const std::vector<PoolShape> pools = {{64, false}, {128, false}};
    const PoolReplay replay({}, pools, 8, 1);
    CHECK_ERROR("pools: 1 counts for 2 pools", replay.run(Counts{1}));
}

} // namespace
