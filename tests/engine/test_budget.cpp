// SPDX-License-Identifier: Apache-2.0
// Budgets against Lee and Yi 2008 written down literally: figure 4 for greedy ones, equations 4 to
// 9 and trying every combination for exact ones; and the bound that both must keep.
#include <algorithm>
#include <map>

#include "check.hpp"
#include "heapfit/budget/budget.hpp"
#include "heapfit/budget/exhaustive.hpp"
#include "heapfit/budget/points.hpp"
#include "heapfit/budget/search.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::error_of;
using heapfit::test::RandomTrace;

namespace {

using Counts = std::vector<std::uint64_t>;
using Live = std::map<std::int64_t, std::int64_t>; // blocks of each rounded size

std::int64_t rounded(std::int64_t size, std::int64_t alignment = 8) {
    return (std::max<std::int64_t>(size, 1) + alignment - 1) / alignment * alignment;
}

// P(t), from t = 0 where nothing is live.
std::vector<Live> counts_over_time(std::span<const Event> events, std::int64_t alignment = 8) {
    std::vector<Live> counts(1);
    for (const auto &sizes : test::sizes_after_each_event(events)) {
        counts.emplace_back();
        for (const std::int64_t size : sizes) {
            if (size >= 0) {
                counts.back()[rounded(size, alignment)]++;
            }
        }
    }
    return counts;
}

// U^B(t), equation 4: every size needs what is live of it, a budgeted one at least its budget.
std::int64_t budgeted_bytes(Live live, const Live &budgets) {
    std::int64_t bytes = 0;
    for (const auto &[size, budget] : budgets) {
        live[size] = std::max(live[size], budget);
    }
    for (const auto &[size, count] : live) {
        bytes += size * count;
    }
    return bytes;
}

// The largest U^B(t).
std::int64_t highest(const std::vector<Live> &counts, const Live &budgets) {
    std::int64_t most = 0;
    for (const Live &live : counts) {
        most = std::max(most, budgeted_bytes(live, budgets));
    }
    return most;
}

Live budgets_of(std::span<const Bytes> sizes, const Counts &counts) {
    Live budgets;
    for (std::size_t i = 0; i < counts.size(); i++) {
        budgets[rounded(static_cast<std::int64_t>(sizes[i]))] =
            static_cast<std::int64_t>(counts[i]);
    }
    return budgets;
}

// ---- Greedy budgets ----

Live figure_4(const std::vector<Live> &counts, const std::vector<Bytes> &sizes,
              std::int64_t alignment) {
    const std::int64_t u_max = highest(counts, {});
    std::vector<std::int64_t> descending;
    for (const Bytes size : sizes) {
        descending.push_back(rounded(static_cast<std::int64_t>(size), alignment));
    }
    std::ranges::sort(descending, std::ranges::greater{});
    Live budgets;
    for (const std::int64_t size : descending) {
        std::int64_t peak = 0;
        std::int64_t m_min = u_max;
        for (Live live : counts) {
            peak = std::max(peak, live[size]);
            live[size] = 0;
            m_min = std::min(m_min, u_max - budgeted_bytes(live, budgets));
        }
        budgets[size] = std::min(peak, m_min / size);
    }
    return budgets;
}

TEST(budgets_are_those_of_figure_4) {
    const std::vector<Bytes> some = {24, 100, 8, 1000};
    for (std::uint64_t seed = 1; seed <= 30; seed++) {
        const auto events = draw(RandomTrace{.seed = seed, .live_limit = 5 + seed});
        for (const std::uint32_t alignment : {4u, 8u}) {
            const Live expected = figure_4(counts_over_time(events, alignment), some, alignment);
            const Counts found = greedy_budgets(events, some, alignment);
            for (std::size_t i = 0; i < some.size(); i++) {
                CHECK(static_cast<std::int64_t>(found[i]) ==
                      expected.at(rounded(static_cast<std::int64_t>(some[i]), alignment)));
            }
        }
    }
}

TEST(dedicated_bytes_never_raise_the_high_water_mark) {
    const std::vector<Bytes> some = {8, 24, 40, 100, 1000};
    for (std::uint64_t seed = 1; seed <= 10; seed++) {
        const auto events = draw(RandomTrace{.seed = seed});
        const auto counts = counts_over_time(events);
        const Live budgets = budgets_of(some, greedy_budgets(events, some, 8));
        CHECK(highest(counts, budgets) <= highest(counts, {}));
    }
}

TEST(the_seeds_example_of_two_sizes_by_hand) {
    // Three blocks of 16 at once, later two of 32 and one of 16: U_max is 80.
    test::TraceBuilder trace;
    for (int i = 0; i < 3; i++) {
        trace.alloc(16);
    }
    trace.free(0);
    trace.free(1);
    trace.alloc(32);
    trace.alloc(32);
    // 32: M = 80 - 48 when three of 16 are live, so one block. 16: M = 80 - 64, so one block.
    CHECK((greedy_budgets(trace.events, std::vector<Bytes>{32, 16}, 8) ==
           std::vector<std::uint64_t>{1, 1}));
}

TEST(sizes_of_one_class_are_refused) {
    CHECK_ERROR("budget: two sizes round up to 40 bytes at alignment 8 (give one of them)",
                greedy_budgets({}, std::vector<Bytes>{33, 40}, 8));
}

TEST(an_empty_trace_needs_no_budget) {
    CHECK((greedy_budgets({}, std::vector<Bytes>{8, 16}, 8) == std::vector<std::uint64_t>{0, 0}));
}

TEST(live_bytes_of_2_to_the_63_are_refused) {
    test::TraceBuilder trace;
    for (int i = 0; i < 1 << 16; i++) {
        trace.alloc(largest_request);
    }
    CHECK_ERROR("event 65535: the live bytes reach 2^63",
                greedy_budgets(trace.events, std::vector<Bytes>{8}, 8));
}

// ---- Exact budgets ----

const std::vector<Bytes> sizes = {24, 80, 8, 104}; // multiples of the alignment, in no order

RandomTrace small_trace(std::uint64_t seed) {
    return {.seed = seed,
            .events = 300,
            .live_limit = 8 + seed,
            .sizes = {8, 24, 40, 77, 80, 100, 104}};
}

bool allows(const BudgetPoints &points, const Counts &budgets) {
    for (std::size_t i = 0; i < budgets.size(); i++) {
        if (static_cast<std::int64_t>(budgets[i]) > points.caps[i]) {
            return false;
        }
    }
    for (std::size_t point = 0; point < points.slacks.size(); point++) {
        std::int64_t unused = 0;
        for (std::size_t i = 0; i < budgets.size(); i++) {
            const auto over = static_cast<std::int64_t>(budgets[i]) - points.row(point)[i];
            unused += points.sizes[i] * std::max<std::int64_t>(0, over);
        }
        if (unused > points.slacks[point]) {
            return false;
        }
    }
    return true;
}

std::uint64_t sum(const Counts &budgets) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < budgets.size(); i++) {
        bytes += budgets[i] * sizes[i];
    }
    return bytes;
}

TEST(the_points_allow_what_the_whole_trace_allows) {
    std::mt19937_64 random(7);
    int allowed = 0;
    int refused = 0;
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        const auto events = draw(small_trace(seed));
        const auto counts = counts_over_time(events);
        const BudgetPoints points = budget_points(events, sizes, 8);
        const std::int64_t u_max = highest(counts, {});
        CHECK(points.u_max == u_max);
        for (int i = 0; i < 40; i++) {
            Counts budgets;
            for (const std::int64_t cap : points.caps) {
                const std::int64_t below = random() % 4 == 0 ? 1 : 0;
                budgets.push_back(
                    static_cast<std::uint64_t>(std::max<std::int64_t>(0, cap - below)));
            }
            const bool is_allowed = highest(counts, budgets_of(sizes, budgets)) <= u_max;
            CHECK(allows(points, budgets) == is_allowed);
            (is_allowed ? allowed : refused)++;
        }
    }
    CHECK(allowed > 50 && refused > 50);
}

// One that even the largest budgets pass tells nothing.
TEST(each_point_refuses_some_budgets) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        const BudgetPoints points = budget_points(draw(small_trace(seed)), sizes, 8);
        for (std::size_t point = 0; point < points.slacks.size(); point++) {
            std::int64_t unused = 0;
            for (std::size_t i = 0; i < points.sizes.size(); i++) {
                unused += points.sizes[i] * (points.caps[i] - points.row(point)[i]);
            }
            CHECK(unused > points.slacks[point]);
        }
    }
}

TEST(no_allowed_budget_is_above_its_cap) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        const auto events = draw(small_trace(seed));
        const auto counts = counts_over_time(events);
        const BudgetPoints points = budget_points(events, sizes, 8);
        for (std::size_t i = 0; i < sizes.size(); i++) {
            Counts budgets(sizes.size());
            budgets[i] = static_cast<std::uint64_t>(points.caps[i]);
            CHECK(highest(counts, budgets_of(sizes, budgets)) <= points.u_max);
        }
    }
}

TEST(a_search_finds_what_trying_every_combination_finds) {
    for (std::uint64_t seed = 1; seed <= test::turns(60); seed++) {
        const auto events = draw(small_trace(seed));
        const BudgetSearch found = search_budgets(budget_points(events, sizes, 8), UINT64_MAX);
        const BudgetEnumeration tried = exhaustive_budgets(events, sizes, 8, 1'000'000);
        CHECK(found.dedicated == tried.dedicated && found.bound == tried.dedicated);
        CHECK(sum(found.counts) == found.dedicated && sum(tried.counts) == tried.dedicated);
        const auto counts = counts_over_time(events);
        CHECK(highest(counts, budgets_of(sizes, found.counts)) == highest(counts, {}));
    }
}

// Of each size the most blocks live at once.
Counts peaks_of(const std::vector<Live> &counts) {
    Counts peaks(sizes.size(), 0);
    for (Live live : counts) {
        for (std::size_t i = 0; i < sizes.size(); i++) {
            const std::int64_t now = live[static_cast<std::int64_t>(sizes[i])];
            peaks[i] = std::max(peaks[i], static_cast<std::uint64_t>(now));
        }
    }
    return peaks;
}

std::vector<Counts> combinations_up_to(const Counts &peaks) {
    std::vector<Counts> all = {{}};
    for (const std::uint64_t peak : peaks) {
        std::vector<Counts> longer;
        for (const Counts &counts : all) {
            for (std::uint64_t count = 0; count <= peak; count++) {
                longer.push_back(counts);
                longer.back().push_back(count);
            }
        }
        all = std::move(longer);
    }
    return all;
}

TEST(trying_every_combination_is_the_papers_definition) {
    for (std::uint64_t seed = 1; seed <= 5; seed++) {
        const auto events = test::draw({.seed = seed, .events = 60, .live_limit = 5});
        const auto counts = counts_over_time(events);
        const BudgetEnumeration tried = exhaustive_budgets(events, sizes, 8, 1'000'000);
        const std::vector<Counts> combinations = combinations_up_to(peaks_of(counts));
        std::uint64_t best = 0;
        for (const Counts &budgets : combinations) {
            if (highest(counts, budgets_of(sizes, budgets)) <= highest(counts, {})) {
                best = std::max(best, sum(budgets));
            }
        }
        CHECK(tried.dedicated == best && tried.combinations == combinations.size());
    }
}

TEST(a_search_of_no_nodes_is_greedy_and_its_bound_holds) {
    int better = 0;
    for (std::uint64_t seed = 1; seed <= 60; seed++) {
        const auto events = draw(small_trace(seed));
        const BudgetPoints points = budget_points(events, sizes, 8);
        const BudgetSearch first = search_budgets(points, 0);
        const BudgetSearch last = search_budgets(points, UINT64_MAX);
        CHECK(first.counts == greedy_budgets(events, sizes, 8));
        CHECK(first.dedicated <= last.dedicated && last.dedicated <= first.bound);
        better += first.dedicated < last.dedicated ? 1 : 0;
    }
    CHECK(better > 0); // or these traces would say nothing of the search
}

TEST(a_search_cut_short_keeps_a_bound_that_holds) {
    const std::vector<Bytes> many = {8, 24, 40, 64, 104, 200, 360, 520, 800, 1000};
    for (std::uint64_t seed = 1; seed <= 5; seed++) {
        const auto events =
            test::draw({.seed = seed, .events = 3000, .live_limit = 60, .sizes = many});
        const BudgetPoints points = budget_points(events, many, 8);
        const BudgetSearch whole = search_budgets(points, UINT64_MAX);
        CHECK(whole.bound == whole.dedicated);
        for (const std::uint64_t limit : {1u, 20u, 50u, 200u}) {
            const BudgetSearch cut = search_budgets(points, limit);
            CHECK(cut.dedicated <= whole.dedicated && whole.dedicated <= cut.bound);
        }
    }
}

TEST(too_many_combinations_are_refused) {
    const auto events = test::draw({.seed = 1, .events = 2000, .live_limit = 400});
    CHECK(error_of([&] { (void)exhaustive_budgets(events, sizes, 8, 1000); }) ==
          "budget: more than 1000 combinations of budgets (take fewer sizes, or exact budgets)");
}

TEST(nothing_live_needs_no_budget) {
    CHECK((search_budgets(budget_points({}, sizes, 8), 10).counts == Counts(4, 0)));
    CHECK(search_budgets(budget_points({}, {}, 8), 10).bound == 0);
    CHECK(exhaustive_budgets({}, sizes, 8, 1).combinations == 1);
}

} // namespace
