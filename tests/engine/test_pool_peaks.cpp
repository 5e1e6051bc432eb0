// SPDX-License-Identifier: Apache-2.0
// Pool peaks against the allocators themselves: a plan of these counts just suffices.
#include "check.hpp"
#include "heapfit/budget/pool_peaks.hpp"
#include "heapfit/replay/replay.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::RandomTrace;

namespace {

constexpr std::uint64_t base_alignment = 256;

Plan plan_of(std::string_view allocator, std::span<const PoolShape> shapes,
             const std::vector<std::uint64_t> &counts) {
    std::vector<PoolSpec> pools;
    for (std::size_t i = 0; i < shapes.size(); i++) {
        pools.push_back({shapes[i].size, counts[i], shapes[i].is_exact});
    }
    return Plan(allocator, {}, pools, {});
}

bool runs(const Plan &plan, std::span<const Event> events) {
    Replay replay(HostHeap::init(plan, {plan.smallest_region(), base_alignment}));
    return replay.feed(events);
}

TEST(the_rule_prefers_exact_then_general_then_larger_special) {
    const std::vector<PoolShape> pools = {{40, true}, {64, false}, {1024, false}, {1500, true}};
    test::TraceBuilder trace;
    trace.alloc(40);   // its own special
    trace.alloc(39);   // 64, not the special of 40
    trace.alloc(1000); // 1024
    trace.alloc(1200); // the special of 1500
    trace.alloc(1501); // nobody's: the shared heap
    const PoolPeaks peaks = pool_peaks(trace.events, pools, 4, find_allocator("class_pools"));
    CHECK((peaks.counts == std::vector<std::uint64_t>{1, 1, 1, 1}));
    CHECK(peaks.shared_requests == 1 && peaks.shared_peak == 1501);
}

TEST(the_shared_peak_is_that_of_live_bytes) {
    test::TraceBuilder trace;
    trace.free(trace.alloc(1000));
    trace.resize(trace.alloc(700), 900);
    trace.alloc(300);
    const PoolPeaks peaks = pool_peaks(trace.events, {}, 8, find_allocator("class_pools"));
    CHECK(peaks.shared_requests == 4 && peaks.shared_peak == 1200);
}

TEST(a_budget_serves_its_class_only) {
    const std::vector<PoolShape> pools = {{100, true}, {40, true}};
    test::TraceBuilder trace;
    trace.alloc(40);
    trace.alloc(33); // rounds up to 40
    trace.alloc(32); // another class
    trace.alloc(97); // rounds up to 104, as 100 does
    const PoolPeaks peaks = pool_peaks(trace.events, pools, 8, find_allocator("budgeted"));
    CHECK((peaks.counts == std::vector<std::uint64_t>{1, 2}));
    CHECK(peaks.shared_requests == 1 && peaks.shared_peak == 32);
}

TEST(a_plan_of_the_peaks_runs_and_one_block_less_does_not) {
    const std::vector<PoolShape> pools = {
        {24, true}, {64, false}, {128, false}, {512, false}, {1000, true}};
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        const auto events =
            draw(RandomTrace{.seed = seed, .sizes = {0, 8, 24, 60, 100, 300, 900, 1000}});
        std::vector<std::uint64_t> counts =
            pool_peaks(events, pools, 8, find_allocator("class_pools")).counts;
        CHECK(runs(plan_of("class_pools", pools, counts), events));
        // The largest pool has no other to fall back on, whichever sizes share it.
        counts.back()--;
        CHECK(!runs(plan_of("class_pools", pools, counts), events));
    }
}

// Without resizes: one that shrinks may stay in its block where no other is free.
TEST(budgets_of_the_peaks_run_and_one_block_less_does_not) {
    const std::vector<PoolShape> pools = {{8, true}, {24, true}, {40, true}};
    for (std::uint64_t seed = 1; seed <= 10; seed++) {
        const auto events =
            draw(RandomTrace{.seed = seed, .sizes = {0, 8, 20, 24, 40}, .resizes = false});
        const PoolPeaks peaks = pool_peaks(events, pools, 8, find_allocator("budgeted"));
        CHECK(peaks.shared_requests == 0);
        CHECK(runs(plan_of("budgeted", pools, peaks.counts), events));
        for (std::size_t i = 0; i < pools.size(); i++) {
            std::vector<std::uint64_t> fewer = peaks.counts;
            fewer[i]--;
            CHECK(!runs(plan_of("budgeted", pools, fewer), events));
        }
    }
}

TEST(aligned_requests_count_where_the_allocator_puts_them) {
    const std::vector<PoolShape> pools = {{40, false}, {64, false}, {256, false}, {1024, false}};
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        std::vector<Event> events = draw(RandomTrace{.seed = seed, .sizes = {8, 40, 60, 200}});
        for (Event &event : events) {
            if (event.op == Op::aligned) {
                event.alignment_log2 = static_cast<std::uint8_t>(3 + event.object % 6);
            }
        }
        const PoolPeaks peaks = pool_peaks(events, pools, 8, find_allocator("class_pools"));
        const Plan plan = plan_of("class_pools", pools, peaks.counts);
        Replay replay(HostHeap::init(plan, {plan.smallest_region(), base_alignment}),
                      {.keep_going = true});
        (void)replay.feed(events);
        CHECK(replay.result().refusals <= peaks.shared_requests);
        CHECK((replay.result().refusals == 0) == (peaks.shared_requests == 0));
    }
}

TEST(two_pools_of_one_size_are_refused) {
    const std::vector<PoolShape> pools = {{64, true}, {64, false}};
    CHECK_ERROR("pools: 2 pools cannot be laid out at alignment 8",
                pool_peaks({}, pools, 8, find_allocator("class_pools")));
}

} // namespace
