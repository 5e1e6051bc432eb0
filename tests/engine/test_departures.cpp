// SPDX-License-Identifier: Apache-2.0
// The queue of departures gives them back by time, then by order of scheduling.
#include <cstdint>
#include <map>
#include <vector>

#include "check.hpp"
#include "heapfit/random.hpp"
#include "simulate/departures.hpp"

namespace {

using heapfit::Departures;
using heapfit::Philox;

// Against a multimap, which keeps equal ones in order. A slot is used again once its departure
// left.
void the_earliest_comes_first_and_of_equal_times_the_oldest(std::uint64_t farthest) {
    Departures departures;
    std::multimap<std::uint64_t, std::uint32_t> model;
    std::vector<std::uint32_t> free_slots;
    std::uint64_t now = 0;
    Philox random{farthest};
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        const bool grows = random.below(200) < (i / 10'000 % 2 == 0 ? 101u : 99u);
        CHECK(departures.count() == model.size() && departures.is_empty() == model.empty());
        if (grows || model.empty()) {
            const auto slot =
                free_slots.empty() ? static_cast<std::uint32_t>(model.size()) : free_slots.back();
            if (!free_slots.empty()) {
                free_slots.pop_back();
            }
            const std::uint64_t ahead = random.below(farthest);
            const std::uint64_t time = ahead < UINT64_MAX - now ? now + ahead : UINT64_MAX;
            departures.schedule(time, slot);
            model.emplace(time, slot);
            continue;
        }
        CHECK(departures.first().time_ns == model.begin()->first);
        CHECK(departures.first().slot == model.begin()->second);
        // What is looked at need not be taken: time may pass, and an earlier one be scheduled.
        if (random.below(4) == 0) {
            continue;
        }
        now = model.begin()->first;
        free_slots.push_back(model.begin()->second);
        departures.take_first();
        model.erase(model.begin());
    }
}

void few_times_are_equal_and_many_are() {
    for (const std::uint64_t farthest : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{50},
                                         std::uint64_t{1'000'000'000}, std::uint64_t{1} << 50}) {
        the_earliest_comes_first_and_of_equal_times_the_oldest(farthest);
    }
}

void the_end_of_time_comes_last() {
    Departures departures;
    departures.schedule(UINT64_MAX, 0);
    departures.schedule(UINT64_MAX, 1);
    departures.schedule(UINT64_MAX - 1, 2);
    for (const std::uint32_t slot : {2u, 0u, 1u}) {
        CHECK(departures.first().slot == slot);
        departures.take_first();
    }
    CHECK(departures.is_empty());
}

} // namespace

int main() {
    RUN(few_times_are_equal_and_many_are);
    RUN(the_end_of_time_comes_last);
}
