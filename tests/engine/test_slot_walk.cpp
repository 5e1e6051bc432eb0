// SPDX-License-Identifier: Apache-2.0
// The slot buffer's draws: sizes log-uniform between their bounds, slots uniform, turned over.
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "heapfit/error.hpp"
#include "heapfit/workload/slot_walk.hpp"

namespace {

using heapfit::Bytes;
using heapfit::Philox;
using heapfit::SizeLaw;
using heapfit::SlotStep;
using heapfit::SlotWalk;

TEST(a_size_is_the_largest_over_e_to_the_r_rounded_down) {
    const SizeLaw law(8, 350);
    Philox random{1}, same{1};
    for (int i = 0; i < 100'000; ++i) {
        const double r = static_cast<double>(same.next53()) * 0x1p-53 * std::log(350.0 / 8.0);
        const double exact = 350.0 / std::exp(r);
        const auto size = static_cast<double>(law.draw(random));
        CHECK(size <= exact * (1 + 1e-12) && size > exact * (1 - 1e-12) - 1);
    }
}

TEST(halves_of_the_range_in_logarithms_are_drawn_alike) {
    const SizeLaw law(16, 1024); // middle: 128
    Philox random{2};
    int below = 0;
    for (int i = 0; i < 100'000; ++i) {
        below += law.draw(random) < 128;
    }
    CHECK(below > 49'500 && below < 50'500);
}

TEST(sizes_stay_within_their_bounds) {
    for (const Bytes most : {Bytes{7}, Bytes{8}, Bytes{1000}, Bytes{1} << 31}) {
        const SizeLaw law(7, most);
        Philox random{3};
        for (int i = 0; i < 10'000; ++i) {
            const Bytes size = law.draw(random);
            CHECK(size >= 7 && size <= most);
        }
    }
}

TEST(a_slot_is_occupied_and_empty_in_turn) {
    SlotWalk walk(10);
    Philox random{4};
    std::vector<bool> is_occupied(10);
    std::vector<int> drawn(10);
    for (int i = 0; i < 10'000; ++i) {
        const SlotStep step = walk.next(random);
        CHECK(step.slot < 10 && step.was_occupied == is_occupied[step.slot]);
        is_occupied[step.slot].flip();
        drawn[step.slot]++;
    }
    for (const int count : drawn) {
        CHECK(count > 850 && count < 1150);
    }
}

TEST(about_half_of_the_slots_are_occupied) {
    SlotWalk walk(300);
    Philox random{5};
    std::int64_t occupied = 0, sum = 0;
    for (int i = 0; i < 100'000; ++i) {
        occupied += walk.next(random).was_occupied ? -1 : 1;
        sum += occupied;
    }
    CHECK(sum / 100'000 > 145 && sum / 100'000 < 155);
}

template <class Make> bool is_refused(Make make) {
    try {
        make();
        return false;
    } catch (const heapfit::Error &) {
        return true;
    }
}

TEST(ranges_and_buffers_that_make_no_sense_are_refused) {
    CHECK(is_refused([] { SizeLaw(0, 8); }));
    CHECK(is_refused([] { SizeLaw(9, 8); }));
    CHECK(is_refused([] { SizeLaw(1, (Bytes{1} << 31) + 1); }));
    CHECK(is_refused([] { SlotWalk{0}; }));
    CHECK(is_refused([] { SlotWalk{(1 << 24) + 1}; }));
}

} // namespace
