// SPDX-License-Identifier: Apache-2.0
// Each effort against its rule written down once more, on allocators made up for it; and what one
// trial tells against a replay.
#include <algorithm>
#include <set>

#include "check.hpp"
#include "heapfit/packing/lifetimes.hpp"
#include "heapfit/replay/replay.hpp"
#include "heapfit/replay/trial.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::RandomTrace;

namespace {

constexpr std::uint64_t least = 104; // no plan made up here takes a smaller region
constexpr std::uint64_t events_of_a_replay = 10;

template <typename Works> TrialOf trial_of(Works works) {
    return [works](std::uint64_t size, const Stop &) {
        if (size < least) {
            return TrialResult{.is_region = false};
        }
        return TrialResult{.runs = works(size), .footprint = size, .events = events_of_a_replay};
    };
}

// Works from 10,000 on but for some sizes, which differ with the seed.
bool works_by_chance(std::uint64_t size, std::uint64_t seed) {
    const std::uint64_t mixed = (size + seed) * 0x9e3779b97f4a7c15;
    return size >= 10000 && (size > 12000 || mixed >> 62 != 0);
}

TEST(the_first_success_is_a_double_of_the_start) {
    const auto works = [](std::uint64_t size) { return size >= 5000; };
    const TrialSeries found = first_success(trial_of(works), 1001, {});
    CHECK(found.region == 8064u && found.failing == 4032 && found.footprint == 8064);
    CHECK(found.replays == 4 && found.events == 4 * events_of_a_replay);
}

TEST(the_largest_region_is_tried_last) {
    std::uint64_t last = 0;
    const auto never = [&last](std::uint64_t size) {
        last = size;
        return false;
    };
    CHECK(!first_success(trial_of(never), 3000, {}).region && last == largest_region);
    CHECK(first_success(trial_of(never), largest_region + 1, {}).replays == 0);
}

TEST(a_size_that_is_no_region_fails_and_costs_nothing) {
    const auto always = [](std::uint64_t) { return true; };
    const TrialSeries found = first_success(trial_of(always), 32, {});
    CHECK(found.region == 128u && found.failing == 64 && found.replays == 1);
}

// The rule of `descend`, with all larger sizes looked at first.
std::uint64_t descended(const Descent &descent, std::uint64_t seed) {
    std::uint64_t size = descent.from;
    bool grows = true;
    for (std::uint64_t step = descent.step; step >= descent.step;
         step = grows ? 2 * step : step / 2) {
        const bool is_lower = step < size && works_by_chance(size - step, seed);
        grows = grows && is_lower;
        size -= is_lower ? step : 0;
    }
    std::set<std::uint64_t> above;
    std::uint64_t last_failing = 0;
    for (const std::uint64_t more : descent.above) {
        above.insert(size + more);
        last_failing = works_by_chance(size + more, seed) ? last_failing : size + more;
    }
    if (last_failing == 0) {
        return size;
    }
    const auto safe = above.upper_bound(last_failing);
    return safe == above.end() ? largest_region : *safe;
}

TEST(descending_looks_above_what_it_found) {
    int raised = 0;
    for (std::uint64_t seed = 1; seed <= 200; seed++) {
        const auto works = [seed](std::uint64_t size) { return works_by_chance(size, seed); };
        const Descent descent{13000 + 8 * seed, 24, {40, 80, 160, 320, 640}};
        const TrialSeries found = descend(trial_of(works), descent, {});
        CHECK(found.region == descended(descent, seed));
        CHECK(found.replays >= 7 && found.events == found.replays * events_of_a_replay);
        raised += found.footprint < *found.region ? 1 : 0;
    }
    CHECK(raised > 20); // else nothing above was looked at in vain
    const auto never = [](std::uint64_t) { return false; };
    CHECK(!descend(trial_of(never), {13000, 24, {40}}, {}).region);
}

TEST(a_bisection_ends_beside_a_size_that_fails) {
    const auto works = [](std::uint64_t size) { return size >= 12345; };
    const TrialSeries fine = bisect(trial_of(works), {1001, 20000, region_unit}, {});
    CHECK(fine.region == 12352u && fine.failing == 12344);
    const TrialSeries coarse = bisect(trial_of(works), {1001, 20000, 64}, {});
    CHECK(*coarse.region >= 12352 && *coarse.region < 12352 + 64 && *coarse.region % 8 == 0);
    CHECK(coarse.replays < fine.replays);
    CHECK(bisect(trial_of(works), {20008, 20000, 64}, {}).region == 20000u);
}

TEST(what_is_done_is_told_before_each_replay_and_may_end_it) {
    std::uint64_t calls = 0;
    const BeforeReplay before = [&calls](std::uint64_t replays, std::uint64_t events) {
        CHECK(replays == calls && events == calls * events_of_a_replay);
        if (++calls == 3) {
            throw Error("enough");
        }
    };
    const auto always = [](std::uint64_t) { return true; };
    CHECK_ERROR("enough", descend(trial_of(always), {13000, 24, {}}, before));
    CHECK(calls == 3);
}

// Every allocator there is, at three alignments, and pools over some of them.
std::vector<Plan> plans_of_all() {
    std::vector<Plan> plans;
    for (const std::uint64_t alignment : {4, 8, 16}) {
        const Plan::Scalars scalars = {{"alignment", alignment}};
        for (const hfit_allocator *const allocator : registered_allocators()) {
            if (allocator->complete == nullptr) {
                plans.emplace_back(allocator->name, scalars, std::vector<PoolSpec>{}, std::nullopt);
            }
        }
        for (const char *const shared : {"tlsf", "first_fit", "tailored"}) {
            for (const char *const pools : {"budgeted", "class_pools"}) {
                plans.emplace_back(pools, scalars,
                                   std::vector<PoolSpec>{{24, 10, true}, {48, 4, true}},
                                   Plan(shared, scalars, {}, {}));
            }
        }
    }
    return plans;
}

// A trial runs over a build of its own, without checks: it must do what the metered one does, where
// it runs and where it does not.
bool is_as_replayed(const Plan &plan, std::uint64_t size, std::span<const Event> events) {
    Replay replay(HostHeap::init(plan, {size}), {.keep_offsets = true});
    const bool runs = replay.feed(events);
    const Trial trial(plan, events);
    const TrialResult told = trial.run(size);
    const ReplayResult result = replay.result();
    CHECK(told.is_region && told.runs == runs && told.events == result.events);
    CHECK(told.footprint == result.footprint && told.height == result.height);
    // Some allocators tell how far they reach in a build for trials alone.
    CHECK(replay.reach() == 0 || told.reach == replay.reach());
    if (runs) {
        const Bytes lowest = std::ranges::min(replay.offsets());
        const std::vector<Bytes> placement = trial.placement(size);
        CHECK(std::ranges::equal(placement, replay.offsets(), {}, {},
                                 [lowest](Bytes offset) { return offset - lowest; }));
    }
    return runs;
}

TEST(a_trial_tells_what_a_replay_does) {
    const auto events = draw(RandomTrace{.seed = 5, .events = 2000});
    const std::uint64_t parts = test::turns(20); // of a size that the next is larger by
    std::size_t plans_that_ran = 0;
    for (const Plan &plan : plans_of_all()) {
        int ran = 0;
        int failed = 0;
        for (std::uint64_t size = plan.smallest_region(); size < 1 << 20;
             size += size / parts + 8) {
            const bool runs = is_as_replayed(plan, size, events);
            ran += runs ? 1 : 0;
            failed += runs ? 0 : 1;
        }
        CHECK(!Trial(plan, events).run(plan.smallest_region() - 1).is_region);
        plans_that_ran += ran > 0 && failed > 0 ? 1 : 0;
    }
    CHECK(plans_that_ran > 50);
}

TEST(too_many_accesses_are_told_of_a_trace_that_is_refused_as_well) {
    const auto events = draw(RandomTrace{.seed = 7, .events = 50000});
    const Plan plan("first_fit", {}, {}, {});
    for (const std::uint64_t size : {std::uint64_t{4000}, std::uint64_t{1} << 24}) {
        Replay replay(HostHeap::init(plan, {size}));
        CHECK(replay.feed(events) == (size > 4000));
        const std::uint64_t accesses = replay.result().loads + replay.result().stores;
        CHECK(Trial(plan, events).exceeds(size, accesses - 1));
        CHECK(!Trial(plan, events).exceeds(size, accesses));
    }
}

// Resized and empty blocks among them.
TEST(what_a_replay_places_is_a_placement_of_all_lifetimes) {
    const auto events = draw(RandomTrace{.seed = 8, .events = 3000, .sizes = {0, 9, 40, 1000}});
    const std::vector<Lifetime> lifetimes = lifetimes_of(events);
    for (const char *const name : {"tlsf", "tailored", "best_fit", "halffit"}) {
        const Trial trial(Plan(name, {}, {}, {}), events);
        const TrialResult result = trial.run(1 << 17);
        CHECK(result.runs && result.height < result.footprint);
        CHECK(check_placement(lifetimes, trial.placement(1 << 17)) == result.height);
        CHECK(test::error_of([&] { (void)trial.placement(2048); }) ==
              "placement: the trace does not run in 2048 bytes");
    }
}

} // namespace
