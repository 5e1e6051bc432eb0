// SPDX-License-Identifier: Apache-2.0
// The heap of departures gives them back by time, then by order of scheduling.
#include <cstdint>
#include <map>

#include "check.hpp"
#include "heapfit/random.hpp"
#include "simulate/departures.hpp"

namespace {

using heapfit::Departure;
using heapfit::Departures;
using heapfit::Philox;

// Few different times, so that many are equal; a multimap keeps equal ones in order.
void the_earliest_comes_first_and_of_equal_times_the_oldest() {
    Departures departures;
    std::multimap<std::uint64_t, std::uint32_t> model;
    Philox random{1};
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        const bool grows = random.below(200) < (i / 10'000 % 2 == 0 ? 101u : 99u);
        if (grows || model.empty()) {
            const std::uint64_t time = random.below(50);
            departures.schedule(time, i);
            model.emplace(time, i);
            continue;
        }
        CHECK(departures.count() == model.size());
        CHECK(departures.first().time_ns == model.begin()->first);
        CHECK(departures.first().slot == model.begin()->second);
        departures.take_first();
        model.erase(model.begin());
    }
    CHECK(model.empty() == departures.is_empty());
}

void orders_wrap_around() {
    constexpr Departure before{5, UINT32_MAX, 0}, after{5, 0, 0}, later{6, UINT32_MAX - 1, 0};
    CHECK(before.is_before(after) && !after.is_before(before));
    CHECK(after.is_before(later) && !later.is_before(before));
    CHECK(!before.is_before(before));
}

} // namespace

int main() {
    RUN(the_earliest_comes_first_and_of_equal_times_the_oldest);
    RUN(orders_wrap_around);
}
