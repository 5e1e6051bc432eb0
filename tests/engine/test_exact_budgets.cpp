// SPDX-License-Identifier: Apache-2.0
// Exact budgets against equations 4 to 9 of Lee and Yi 2008 written down literally, and against
// trying every combination.
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

const std::vector<Bytes> sizes = {24, 80, 8, 104}; // multiples of the alignment, in no order

RandomTrace small_trace(std::uint64_t seed) {
    return {.seed = seed,
            .events = 300,
            .live_limit = 8 + seed,
            .sizes = {8, 24, 40, 77, 80, 100, 104}};
}

std::int64_t rounded(std::int64_t size) {
    return (std::max<std::int64_t>(size, 1) + 7) / 8 * 8;
}

// The largest U^B(t), equation 4, of rounded sizes over all t.
std::int64_t highest(const std::vector<std::vector<std::int64_t>> &history, const Counts &budgets) {
    std::int64_t most = 0;
    for (const auto &objects : history) {
        std::map<std::int64_t, std::int64_t> live;
        for (const std::int64_t size : objects) {
            if (size >= 0) {
                live[rounded(size)]++;
            }
        }
        for (std::size_t i = 0; i < budgets.size(); i++) {
            auto &count = live[static_cast<std::int64_t>(sizes[i])];
            count = std::max(count, static_cast<std::int64_t>(budgets[i]));
        }
        std::int64_t bytes = 0;
        for (const auto &[size, count] : live) {
            bytes += size * count;
        }
        most = std::max(most, bytes);
    }
    return most;
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
        const auto history = test::sizes_after_each_event(events);
        const BudgetPoints points = budget_points(events, sizes, 8);
        const std::int64_t u_max = highest(history, {});
        CHECK(points.u_max == u_max);
        for (int i = 0; i < 40; i++) {
            Counts budgets;
            for (const std::int64_t cap : points.caps) {
                const std::int64_t below = random() % 4 == 0 ? 1 : 0;
                budgets.push_back(
                    static_cast<std::uint64_t>(std::max<std::int64_t>(0, cap - below)));
            }
            const bool is_allowed = highest(history, budgets) <= u_max;
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
        const auto history = test::sizes_after_each_event(events);
        const BudgetPoints points = budget_points(events, sizes, 8);
        for (std::size_t i = 0; i < sizes.size(); i++) {
            Counts budgets(sizes.size());
            budgets[i] = static_cast<std::uint64_t>(points.caps[i]);
            CHECK(highest(history, budgets) <= points.u_max);
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
        CHECK(highest(test::sizes_after_each_event(events), found.counts) ==
              highest(test::sizes_after_each_event(events), {}));
    }
}

// Of each size the most blocks live at once.
Counts peaks_of(const std::vector<std::vector<std::int64_t>> &history) {
    Counts peaks(sizes.size(), 0);
    for (const auto &objects : history) {
        for (std::size_t i = 0; i < sizes.size(); i++) {
            const auto live = std::ranges::count_if(objects, [&](std::int64_t size) {
                return size >= 0 && rounded(size) == static_cast<std::int64_t>(sizes[i]);
            });
            peaks[i] = std::max(peaks[i], static_cast<std::uint64_t>(live));
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
        const auto history = test::sizes_after_each_event(events);
        const BudgetEnumeration tried = exhaustive_budgets(events, sizes, 8, 1'000'000);
        const std::vector<Counts> combinations = combinations_up_to(peaks_of(history));
        std::uint64_t best = 0;
        for (const Counts &counts : combinations) {
            if (highest(history, counts) <= highest(history, {})) {
                best = std::max(best, sum(counts));
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
