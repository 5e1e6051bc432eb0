// SPDX-License-Identifier: Apache-2.0
// The queue of departures gives them back by time, then by order of scheduling.
#include <cstdint>
#include <map>
#include <optional>

#include "check.hpp"
#include "heapfit/random.hpp"
#include "simulate/departures.hpp"

namespace {

using heapfit::Departure;
using heapfit::Departures;
using heapfit::Philox;

// What is due at a time, or nothing: a slot and when it leaves.
std::optional<Departure> due_at(Departures &departures, std::uint64_t time_ns) {
    Departure taken{};
    return departures.take_due(time_ns, taken) ? std::optional(taken) : std::nullopt;
}

// Against a multimap, which keeps equal ones in order. A slot is used again once its departure
// left. Some departures are near even where others are far.
void the_earliest_comes_first_and_of_equal_times_the_oldest(std::uint64_t farthest) {
    Departures departures;
    std::multimap<std::uint64_t, std::uint32_t> model;
    std::uint64_t now = 0;
    Philox random{farthest};
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        const bool grows = random.below(200) < (i / 10'000 % 2 == 0 ? 101u : 99u);
        if (grows || model.empty()) {
            CHECK(!model.empty() || !due_at(departures, UINT64_MAX));
            const std::uint64_t ahead =
                random.below(random.below(4) == 0 ? 1 + farthest / 1024 : farthest);
            const std::uint64_t time = ahead < UINT64_MAX - now ? now + ahead : UINT64_MAX;
            model.emplace(time, departures.schedule(time));
            continue;
        }
        const auto [time, slot] = *model.begin();
        // What is not due yet stays: time may pass, and an earlier one be scheduled.
        CHECK(time == 0 || !due_at(departures, time - 1));
        if (random.below(4) == 0) {
            continue;
        }
        const auto taken = due_at(departures, time + (time < UINT64_MAX ? random.below(2) : 0));
        CHECK(taken && taken->time_ns == time && taken->slot == slot);
        now = time;
        model.erase(model.begin());
    }
}

// Each before all that wait: they go to the front, which gives the last ones back.
TEST(departures_may_come_in_falling_order) {
    Departures departures;
    (void)departures.schedule(0);
    for (std::uint64_t time = 5000; time > 4990; --time) {
        (void)departures.schedule(time);
    }
    CHECK(due_at(departures, 0));
    CHECK(due_at(departures, 4991)); // the others are in front
    std::uint64_t time = 4999;
    for (; time > 4991; --time) {
        for (int twice = 0; twice < 20; ++twice) {
            (void)departures.schedule(time);
        }
    }
    std::uint64_t last_ns = 0;
    std::size_t count = 0;
    while (const auto taken = due_at(departures, UINT64_MAX)) {
        CHECK(taken->time_ns >= last_ns);
        last_ns = taken->time_ns;
        ++count;
    }
    CHECK(count == 9 + 8 * 20 && last_ns == 5000);
}

TEST(few_times_are_equal_and_many_are) {
    for (const std::uint64_t farthest : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{50},
                                         std::uint64_t{1'000'000'000}, std::uint64_t{1} << 50}) {
        the_earliest_comes_first_and_of_equal_times_the_oldest(farthest);
    }
}

TEST(the_end_of_time_comes_last) {
    Departures departures;
    CHECK(departures.schedule(UINT64_MAX) == 0);
    CHECK(departures.schedule(UINT64_MAX) == 1);
    CHECK(departures.schedule(UINT64_MAX - 1) == 2);
    for (const std::uint32_t slot : {2u, 0u, 1u}) {
        CHECK(due_at(departures, UINT64_MAX)->slot == slot);
    }
    CHECK(!due_at(departures, UINT64_MAX));
}

} // namespace
