// SPDX-License-Identifier: Apache-2.0
// The search against allocators made up for it: monotone, not monotone, never working; and on real
// ones.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <utility>

#include "check.hpp"
#include "heapfit/profile/profile.hpp"
#include "heapfit/profile/u_max.hpp"
#include "heapfit/replay/region_search.hpp"
#include "heapfit/replay/replay.hpp"
#include "plans.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::RandomTrace;

namespace {

template <typename Works> TrialOf trial_of(Works works) {
    return [works](std::uint64_t size, const Stop &) {
        return TrialResult{.runs = works(size), .footprint = size};
    };
}

// Sizes that work from `from` on but for the holes: both ends of each fail, too.
struct Holes {
    std::uint64_t from;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> holes;

    bool operator()(std::uint64_t size) const {
        return size >= from && std::ranges::none_of(holes, [size](const auto &hole) {
                   return size >= hole.first && size <= hole.second;
               });
    }
};

const SearchOptions every_size = {.every_size = true};

TEST(a_monotone_allocator_has_one_answer) {
    const Holes works{123456, {}};
    for (const SearchOptions &options : {SearchOptions{}, every_size}) {
        const RegionSearch search = search_regions({64, 100000}, trial_of(works), options);
        CHECK(search.searched && search.r_min == 123456u && search.r_safe == 123456u);
    }
    const RegionSearch search = search_regions({64, 100000}, trial_of(works), {});
    CHECK(search.step == 392); // 0.4 * 123,456 / 127 = 388.8, in whole 8 B
    CHECK(search.sizes.front() == 111112 && search.sizes.back() == 160496); // 0.9 and 1.3 times
    const RegionSearch exact = search_regions({64, 5000}, trial_of(Holes{5080, {}}), {});
    CHECK(exact.step == 16); // 0.4 * 5,080 / 127 = 16, and no 8 B more
}

TEST(the_lowest_placement_of_all_that_were_tried_is_told) {
    const TrialOf trial = [](std::uint64_t size, const Stop &) {
        const bool is_lowest = size >= 12000 && size < 12100;
        return TrialResult{.runs = size >= 10000, .height = is_lowest ? 9000u : 9900u};
    };
    const RegionSearch search = search_regions({64, 9990}, trial, {});
    CHECK(search.height == 9000 && search.height_region >= 12000 && search.height_region < 12100);
}

TEST(holes_are_told_of_plans_that_leave_no_other) {
    CHECK(test::plain("first_fit").holes(100).has_value());
    CHECK(!test::plain("first_fit", {{"coalesce", 0}}).holes(100).has_value());
}

TEST(only_the_largest_region_failing_leaves_no_r_safe) {
    constexpr std::uint64_t size = 3'000'000'000;
    const Holes works{size, {{size + 1000, largest_region}}};
    const RegionSearch search = search_regions({64, size}, trial_of(works), {});
    CHECK(search.r_min == size && !search.r_safe && search.sizes.back() == largest_region);
}

// What the search tries, and how often.
struct Watched {
    Holes works;
    std::mutex mutex;
    std::map<std::uint64_t, int> tried;

    TrialOf trial() {
        return [this](std::uint64_t size, const Stop &) {
            const std::lock_guard lock(mutex);
            tried[size]++;
            return TrialResult{.runs = works(size), .footprint = size, .events = 10};
        };
    }
};

// Six holes anywhere from 0.8 to 2.2 times 10,000, some so narrow that a scan steps over them.
Holes drawn_holes(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Holes works{10000, {}};
    for (int i = 0; i < 6; i++) {
        const std::uint64_t begin = 8000 + random() % 14000;
        works.holes.emplace_back(begin, begin + 8 + random() % (i < 3 ? 20 : 1500));
    }
    works.from = 8000 + random() % 2000;
    return works;
}

TEST(no_r_safe_lies_below_a_size_that_failed) {
    for (std::uint64_t seed = 1; seed <= 80; seed++) {
        Watched watched{drawn_holes(seed), {}, {}};
        const RegionSearch search = search_regions({64, 7990}, watched.trial(), {});
        std::optional<std::uint64_t> r_min;
        std::optional<std::uint64_t> r_safe;
        for (const auto &[size, times] : watched.tried) {
            CHECK(times == 1);
            const bool works = watched.works(size);
            r_min = works && !r_min ? size : r_min;
            r_safe = !works ? std::nullopt : r_safe ? r_safe : std::optional(size);
        }
        CHECK(search.r_min == r_min && search.r_safe == r_safe);
        CHECK(search.events == 10 * watched.tried.size());
        CHECK(!watched.works(*search.r_min - 8) && !watched.works(*search.r_safe - 8));
    }
}

TEST(r_safe_alone_is_what_it_is_beside_r_min_by_fewer_replays) {
    std::uint64_t events = 0;
    std::uint64_t fewer = 0;
    for (std::uint64_t seed = 1; seed <= 400; seed++) {
        const std::uint64_t u_max = seed % 2 == 0 ? 7990 : 7000;
        Watched both{drawn_holes(seed), {}, {}};
        Watched alone{both.works, {}, {}};
        const RegionSearch whole = search_regions({64, u_max}, both.trial(), {});
        const RegionSearch safe =
            search_regions({64, u_max}, alone.trial(), {.is_safe_alone = true});
        CHECK(safe.r_safe == whole.r_safe && !safe.r_min);
        CHECK(std::ranges::all_of(alone.tried,
                                  [&](const auto &one) { return both.tried.contains(one.first); }));
        events += whole.events;
        fewer += safe.events;
    }
    CHECK(fewer < events * 85 / 100);
}

TEST(every_size_tried_gives_what_trying_all_there_are_gives) {
    for (std::uint64_t seed = 1; seed <= 80; seed++) {
        const Holes works = drawn_holes(seed);
        const RegionSearch search = search_regions({64, 7990}, trial_of(works), every_size);
        CHECK(search.step == 8 && search.events_left == 0);
        std::optional<std::uint64_t> r_safe;
        for (std::uint64_t size = search.sizes.front(); size <= search.sizes.back(); size += 8) {
            r_safe = !works(size) ? std::nullopt : r_safe ? r_safe : std::optional(size);
        }
        CHECK(search.r_safe == r_safe && works(*search.r_min));
        CHECK(10 * search.sizes.front() <= 9 * *search.r_min + 80);
        CHECK(search.sizes.size() == (search.sizes.back() - search.sizes.front()) / 8 + 1);
    }
}

TEST(edges_are_closed_in_to_a_part_of_u_max) {
    const Holes works{1000000, {{1130000, 1140000}}};
    const RegionSearch search = search_regions({64, 999000}, trial_of(works), {});
    CHECK(search.step == 3152 && search.r_min == 1000000u);
    CHECK(*search.r_safe > 1140000 && *search.r_safe <= 1140000 + 999000 / 5000);
}

TEST(what_every_size_left_would_take_is_told) {
    const TrialOf trial = [](std::uint64_t size, const Stop &) {
        return TrialResult{.runs = size >= 100000, .events = size >= 100000 ? 100u : 40u};
    };
    const RegionSearch some = search_regions({64, 99000}, trial, {});
    const RegionSearch all = search_regions({64, 99000}, trial, every_size);
    const std::uint64_t window = 100 * (30000 / 8 + 1) + 40 * (10000 / 8);
    CHECK(all.events_left == 0 && all.events >= window && all.events < window + 1000);
    CHECK(some.events_left > 100 * 29000 / 8 && some.events_left < window);
}

TEST(sizes_between_those_of_the_window_are_tried_where_the_events_do) {
    for (std::uint64_t seed = 1; seed <= 80; seed++) {
        Watched watched{drawn_holes(seed), {}, {}};
        const SearchOptions enough = {.most_events = 1'000'000};
        const RegionSearch search = search_regions({64, 7990}, watched.trial(), enough);
        CHECK(search.events_left == 0 && search.events == 10 * watched.tried.size());
        const std::uint64_t first = (*search.r_min * 9 + 9) / 10;
        for (std::uint64_t size = round_to_region(first); size <= search.sizes.back(); size += 8) {
            CHECK(!watched.works(size) || size >= *search.r_min);
            CHECK(watched.works(size) || size < *search.r_safe);
        }
        CHECK(!watched.works(*search.r_safe - 8));
        const SearchOptions alone = {.is_safe_alone = true, .most_events = 1'000'000};
        const RegionSearch safe = search_regions({64, 7990}, trial_of(watched.works), alone);
        CHECK(safe.r_safe == search.r_safe && !safe.r_min);
    }
}

TEST(sizes_next_to_r_safe_are_tried_first) {
    const Holes works{100000, {{100100, 100110}, {100300, 100310}, {109000, 109010}}};
    const auto found = [&works](std::uint64_t most_events) {
        Watched watched{works, {}, {}};
        return search_regions({64, 99000}, watched.trial(), {.most_events = most_events});
    };
    const RegionSearch few = found(0);
    const RegionSearch some = found(640); // 64 sizes
    CHECK(few.r_safe == 100000u && some.r_safe == 100312u && some.events_left > 0);
    CHECK(some.events - few.events < 2 * 640 + 640 / 4 + 10 * 3 * 32);
    CHECK(found(20'000).r_safe == 109016u);
}

TEST(as_many_events_again_are_taken_where_some_of_the_last_sizes_failed) {
    const Holes works{100000, {{100100, 100110}, {100900, 100910}}};
    Watched watched{works, {}, {}};
    const SearchOptions options = {.is_safe_alone = true, .most_events = 300}; // 32 sizes take 320
    CHECK(search_regions({64, 99000}, watched.trial(), options).r_safe == 100112u);
    CHECK(watched.tried.contains(100408) && !watched.tried.contains(100808));
}

TEST(a_size_that_failed_elsewhere_is_below_r_safe) {
    const Holes works{10000, {{10996, 11010}, {19000, 19000}}};
    const SearchSpace space{64, 9990};
    CHECK(search_regions(space, trial_of(works), {}).r_safe == 10000u);
    CHECK(search_regions(space, trial_of(works), {.also = 11000}).r_safe == 11016u);
    CHECK(search_regions(space, trial_of(works), {.also = 19000}).r_safe == 19008u);
    CHECK(search_regions(space, trial_of(works), {.also = 15000}).r_safe == 10000u);
    const TrialOf smallest = trial_of(Holes{64, {{80, 80}}});
    CHECK(search_regions({64, 50}, smallest, {}).r_safe == 64u);
    CHECK(search_regions({64, 50}, smallest, {.also = 80}).r_safe == 88u);
}

TEST(the_smallest_region_needs_no_search) {
    const RegionSearch search =
        search_regions({1001, 500}, trial_of([](std::uint64_t) { return true; }), {});
    CHECK(!search.searched && search.r_min == 1001u && search.r_safe == 1001u);
    CHECK(search.step == 0 && search.sizes == std::vector<std::uint64_t>{1001});
}

TEST(an_allocator_that_never_works_has_no_region) {
    std::atomic<std::uint64_t> largest = 0;
    const TrialOf trial = [&](std::uint64_t size, const Stop &) {
        largest = std::max(largest.load(), size);
        return TrialResult{};
    };
    const RegionSearch search = search_regions({64, 1000}, trial, {});
    CHECK(!search.r_min && !search.r_safe && !search.searched);
    CHECK(largest == (std::uint64_t{1} << 32) - 8);
}

TEST(live_bytes_of_4_gib_have_no_region_and_try_none) {
    const TrialOf trial = [](std::uint64_t, const Stop &) -> TrialResult {
        throw std::logic_error("nothing is to be tried");
    };
    const RegionSearch search = search_regions({64, std::uint64_t{1} << 32}, trial, {});
    CHECK(!search.r_min && !search.r_safe && search.u_max == std::uint64_t{1} << 32);
}

SearchSpace reaching(std::uint64_t by_chance = 0) {
    return {64, 3000, [](std::uint64_t reach) { return round_to_region(reach); }, by_chance};
}

TEST(ignoring_the_end_gives_the_footprint_of_one_run) {
    const TrialOf trial = [](std::uint64_t size, const Stop &) {
        return TrialResult{.runs = size >= 5003, .reach = 5003, .events = 10};
    };
    const RegionSearch search = search_regions(reaching(), trial, {});
    CHECK(search.r_min == 5008u && search.r_safe == 5008u && !search.searched);
    CHECK(search.events == 10 * 4); // the smallest, 6,000, and both sides of R
}

TEST(a_trace_that_also_runs_below_its_footprint_is_searched) {
    const TrialOf trial = [](std::uint64_t size, const Stop &) {
        const bool runs = size >= 4800 && (size < 4850 || size > 4900);
        return TrialResult{.runs = runs, .reach = 5003};
    };
    const RegionSearch search = search_regions(reaching(), trial, {});
    CHECK(search.searched && search.r_min == 4800u && search.r_safe == 4904u);
    CHECK(search.sizes.back() == 5008); // above it nothing can fail
}

TEST(sizes_that_serve_by_chance_are_tried_one_by_one) {
    const TrialOf trial = [](std::uint64_t size, const Stop &) {
        return TrialResult{.runs = size == 4984 || size >= 4992, .reach = 5003};
    };
    const RegionSearch near = search_regions(reaching(32), trial, {});
    CHECK(!near.searched && near.r_safe == 4984u);
    CHECK(search_regions(reaching(8), trial, {}).searched);
}

TEST(a_reach_that_is_not_confirmed_is_searched) {
    const TrialOf trial = [](std::uint64_t size, const Stop &) {
        return TrialResult{.runs = size >= 6000, .reach = 5000};
    };
    const RegionSearch search = search_regions(reaching(), trial, {});
    CHECK(search.searched && search.r_min == 6000u && search.r_safe == 6000u);
}

TEST(threads_do_not_change_the_answer) {
    const auto works = [](std::uint64_t size) { return size >= 50000 && size % 24 != 0; };
    const RegionSearch one = search_regions({64, 40000}, trial_of(works), {1, {}});
    const RegionSearch four = search_regions({64, 40000}, trial_of(works), {4, {}});
    CHECK(one.sizes == four.sizes && one.succeeded == four.succeeded);
    CHECK(one.r_min == four.r_min && one.r_safe == four.r_safe);
}

TEST(a_callback_that_throws_stops_the_search) {
    struct Stop {};
    const auto works = [](std::uint64_t size) { return size >= 50000; };
    int calls = 0;
    const Progress progress = [&](std::uint64_t done, std::uint64_t total) {
        CHECK(done <= total);
        if (++calls == 5) {
            throw Stop{};
        }
    };
    bool was_stopped = false;
    try {
        (void)search_regions({64, 40000}, trial_of(works), {2, progress});
    } catch (const Stop &) {
        was_stopped = true;
    }
    CHECK(was_stopped);
}

TEST(what_a_real_search_finds_is_what_a_replay_confirms) {
    const auto events = draw(RandomTrace{.seed = 9, .events = 3000});
    const Plan plan = test::plain("tlsf");
    const RegionSearch search = scan(Trial(plan, events), {});
    for (std::size_t i = 0; i < search.sizes.size(); i++) {
        Replay replay(HostHeap::init(plan, {search.sizes[i]}));
        CHECK(replay.feed(events) == (search.succeeded[i] != 0));
    }
    Profile profile(1);
    profile.feed(events);
    CHECK(search.u_max == profile.result().u_max && *search.r_min > search.u_max);
}

TEST(pools_for_every_request_have_their_region_from_the_plan) {
    test::TraceBuilder trace;
    for (int i = 0; i < 10; i++) {
        trace.alloc(40);
    }
    const Plan plan("class_pools", {}, {{40, 10, true}}, {});
    const RegionSearch search = scan(Trial(plan, trace.events), {});
    CHECK(!search.searched && search.r_safe == plan.smallest_region());
    const Plan too_few("class_pools", {}, {{40, 9, true}}, {});
    CHECK(!scan(Trial(too_few, trace.events), {}).r_min);
}

// Pools of several rules, some too small, over best fit.
std::vector<Plan> pools_over_best_fit(std::uint64_t alignment) {
    const Plan::Scalars common = {{"alignment", alignment}};
    const Plan shared("best_fit", common, {}, {});
    const std::vector<PoolSpec> exact = {{24, 4, true}, {40, 3, true}, {1000, 2, true}};
    const std::vector<PoolSpec> ranges = {{32, 4, false}, {96, 0, false}, {1008, 2, false}};
    std::vector<Plan> plans;
    plans.emplace_back("budgeted", common, exact, shared);
    for (const std::uint64_t overflow : {0u, 1u, 2u}) {
        plans.emplace_back("class_pools",
                           Plan::Scalars{{"alignment", alignment}, {"overflow", overflow}}, ranges,
                           shared);
    }
    return plans;
}

// Whether there is a region that serves; it is known without a search, and so do those above it.
bool is_settled(const Plan &plan, std::span<const Event> events) {
    const Trial trial(plan, events);
    const RegionSearch search = scan(trial, {});
    CHECK(!search.searched);
    if (!search.r_safe) {
        return false; // overflow 2 refuses
    }
    const std::uint64_t needed = *search.r_safe;
    CHECK(!trial.run(needed - 8).runs);
    for (std::uint64_t size = needed; size < 2 * needed; size += 264) {
        CHECK(trial.run(size).runs);
    }
    return true;
}

TEST(pools_over_an_allocator_that_ignores_the_end_need_no_search) {
    int settled = 0;
    for (const std::uint64_t alignment : {4u, 8u, 16u}) {
        for (std::uint64_t seed = 1; seed <= 6; seed++) {
            const auto events = draw(RandomTrace{.seed = seed, .events = 600});
            for (const Plan &plan : pools_over_best_fit(alignment)) {
                settled += is_settled(plan, events) ? 1 : 0;
            }
        }
    }
    CHECK(settled >= 3 * 6 * 3); // all plans but the one whose overflow refuses
}

// Whether R was known from one run; then nothing fails from there on, and 8 bytes less do.
bool is_reached(const Plan &plan, std::span<const Event> events) {
    const Trial trial(plan, events);
    const RegionSearch search = scan(trial, {.threads = 1});
    CHECK(search.r_safe && trial.tells_reach());
    if (search.searched) {
        return false;
    }
    const std::uint64_t needed = *search.r_safe;
    CHECK(!trial.run(needed - 8).runs);
    for (std::uint64_t size = needed; size < needed + 160; size += 8) {
        CHECK(trial.run(size).runs);
    }
    for (std::uint64_t size = needed; size < 2 * needed; size += 264) {
        CHECK(trial.run(size).runs);
    }
    return true;
}

TEST(plans_that_place_alike_wherever_there_is_room_need_no_search) {
    std::uint64_t reached = 0;
    std::uint64_t drawn = 0;
    for (const Plan &plan : test::reaching_plans()) {
        for (std::uint64_t seed = 1; seed <= 3; seed++) {
            const RandomTrace wish{.seed = seed, .events = 400, .resizes = seed % 3 == 0};
            reached += is_reached(plan, draw(wish)) ? 1 : 0;
            drawn++;
        }
    }
    CHECK(reached * 10 >= drawn * 6);
}

TEST(a_plan_that_looks_at_the_room_there_is_tells_no_reach) {
    CHECK(!Trial(test::plain("tailored", {{"hole_limit", 4}}), {}).tells_reach());
    CHECK(!Trial(test::plain("sized", {{"hole_limit", 8}}), {}).tells_reach());
    CHECK(!Trial(test::plain("sized", {{"ends", 2}}), {}).tells_reach());
    CHECK(!Trial(test::plain("tlsf"), {}).tells_reach());
    CHECK(!Trial(test::plain("partition_pool", {{"fit", 1}}), {}).tells_reach());
    CHECK(!Trial(test::plain("partition_pool", {{"partitions", 9}}), {}).tells_reach());
    test::TraceBuilder trace;
    for (int i = 0; i < 100; i++) {
        trace.aligned(40, 6);
    }
    const Trial aligned(test::plain("tailored"), trace.events, 64);
    CHECK(aligned.tells_reach() && scan(aligned, {}).searched);
}

TEST(what_one_run_proves_to_serve_is_not_replayed) {
    std::uint64_t above = 0;
    const TrialOf trial = [&above](std::uint64_t size, const Stop &) {
        above += size > 5000 ? 1 : 0;
        return TrialResult{.runs = size >= 4800 && (size < 4850 || size > 4900), .events = 10};
    };
    SearchSpace space{64, 3000};
    const RegionSearch all = search_regions(space, trial, {});
    const std::uint64_t above_in_all = std::exchange(above, 0);
    space.serves_from = [](std::uint64_t) { return std::optional<std::uint64_t>(5000); };
    const RegionSearch some = search_regions(space, trial, {});
    CHECK(some.r_min == all.r_min && some.r_safe == all.r_safe && some.step == all.step);
    CHECK(above_in_all > 64 && above <= 2); // the first that runs
    CHECK(some.events < all.events && some.sizes.back() == all.sizes.back());
}

TEST(a_proof_that_a_run_does_not_confirm_is_left) {
    const auto works = [](std::uint64_t size) { return size >= 5504 || size == 5000; };
    for (const std::uint64_t told : {4992u, 5000u}) {
        SearchSpace space{64, 3000};
        space.serves_from = [told](std::uint64_t) { return std::optional<std::uint64_t>(told); };
        const RegionSearch search = search_regions(space, trial_of(works), {.also = 5200});
        CHECK(search.r_safe == 5504u);
    }
}

// Whether a run in a region of this size told from where on all serve; then they do, and place
// every block alike. (Behind pools, which do not move, control structures take more of a larger
// region.)
bool serves_alike(const Trial &trial, std::uint64_t large) {
    const std::optional<std::uint64_t> from = trial.serves_from(large);
    if (!from) {
        return false;
    }
    CHECK(*from <= large);
    const bool is_shared = trial.plan().shared().has_value();
    const std::vector<Bytes> placement = trial.placement(large);
    const auto is_alike = [&](std::uint64_t size) {
        return is_shared ? trial.run(size).runs : trial.placement(size) == placement;
    };
    for (std::uint64_t size = *from; size < *from + 64; size += 8) {
        CHECK(is_alike(size));
    }
    for (std::uint64_t size = *from; size < 8 * large; size += size / 16 * 8) {
        CHECK(is_alike(size));
    }
    return true;
}

// Runs in regions from the live bytes on; true if the largest of them told.
bool serve_alike(const Plan &plan, std::span<const Event> events) {
    const Trial trial(plan, events);
    CHECK(trial.asks_room());
    const std::uint64_t u_max = u_max_of(events);
    bool told = false;
    for (std::uint64_t eighths = 8; eighths <= 18; eighths += 2) {
        told = serves_alike(trial, round_to_region(u_max * eighths / 8 + plan.smallest_region()));
    }
    return told;
}

TEST(one_run_tells_from_where_on_all_serve_alike) {
    std::uint64_t told = 0;
    std::uint64_t drawn = 0;
    for (const Plan &plan : test::tlsf_plans({8, 16})) {
        for (std::uint64_t seed = 1; seed <= 2; seed++) {
            RandomTrace wish{.seed = seed, .events = 400, .resizes = seed % 2 == 0};
            wish.sizes = {8, 24, 40, 41, 100, 700, 1000, 3000};
            told += serve_alike(plan, draw(wish)) ? 1 : 0;
            drawn++;
        }
    }
    CHECK(told * 10 >= drawn * 6);
}

// Where few requests are made each of them decides sometimes.
TEST(a_few_requests_are_served_alike_from_where_they_tell) {
    std::uint64_t told = 0;
    for (const Plan &plan : test::tlsf_plans({8, 16})) {
        for (std::uint64_t seed = 1; seed <= 20; seed++) {
            RandomTrace wish{.seed = seed, .events = 4 + seed % 12, .live_limit = 5};
            wish.sizes = {40, 1000, 1010, 2500, 9000, 9000};
            told += serve_alike(plan, draw(wish)) ? 1 : 0;
        }
    }
    CHECK(told > 20 * 10);
}

TEST(blocks_aligned_beyond_the_plan_prove_nothing) {
    test::TraceBuilder trace;
    for (int i = 0; i < 500; i++) {
        trace.aligned(40, 6);
    }
    const Trial trial(test::plain("tlsf"), trace.events, 64);
    CHECK(trial.asks_room() && !trial.serves_from(1 << 20));
    CHECK(!Trial(test::plain("first_fit"), {}).asks_room());
}

TEST(pools_over_a_heap_that_minds_its_end_are_searched) {
    const Plan best = test::plain("best_fit");
    CHECK(best.ignores_region_end());
    CHECK(Plan("budgeted", {}, {{40, 1, true}}, best).ignores_region_end());
    CHECK(!Plan("budgeted", {}, {{40, 1, true}}, test::plain("tlsf")).ignores_region_end());
    CHECK(!Plan("class_pools", {}, {{40, 1, true}}, {}).ignores_region_end());
}

TEST(a_bad_trace_is_told_and_not_searched) {
    const std::vector<Event> events = {{0, 0, Op::free, 0, 0}};
    const Plan plan = test::plain("tlsf");
    CHECK_ERROR("event 0: object 0", scan(Trial(plan, events), {}));
}

} // namespace
