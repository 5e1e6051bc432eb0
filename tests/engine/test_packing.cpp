// SPDX-License-Identifier: Apache-2.0
// Offline placements: every one is checked by a checker that is itself checked pair by pair.
#include <algorithm>
#include <functional>
#include <random>

#include "check.hpp"
#include "fnv_hash.hpp"
#include "heapfit/packing/packing.hpp"
#include "heapfit/packing/picture.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::error_of;

namespace {

const auto watch_nothing = [](double) { return true; };

bool overlap(std::uint64_t a, std::uint64_t a_end, std::uint64_t b, std::uint64_t b_end) {
    return a < b_end && b < a_end;
}

bool is_placement(const std::vector<Lifetime> &lifetimes, const std::vector<Bytes> &offsets) {
    for (std::size_t i = 0; i < lifetimes.size(); i++) {
        for (std::size_t j = 0; j < i; j++) {
            const Lifetime &a = lifetimes[i];
            const Lifetime &b = lifetimes[j];
            if (overlap(a.from, a.until, b.from, b.until) &&
                overlap(offsets[i], offsets[i] + a.size, offsets[j], offsets[j] + b.size)) {
                return false;
            }
        }
    }
    return true;
}

Bytes height_of(const std::vector<Lifetime> &lifetimes, const std::vector<Bytes> &offsets) {
    Bytes height = 0;
    for (std::size_t i = 0; i < lifetimes.size(); i++) {
        height = std::max(height, offsets[i] + lifetimes[i].size);
    }
    return height;
}

// The lowest height there is: some order from the bottom up gives it, each lifetime as low as it
// goes.
Bytes lowest_height(const std::vector<Lifetime> &lifetimes) {
    std::vector<std::size_t> order(lifetimes.size());
    for (std::size_t i = 0; i < order.size(); i++) {
        order[i] = i;
    }
    Bytes lowest = UINT64_MAX;
    do {
        std::vector<Bytes> offsets(lifetimes.size());
        std::vector<Lifetime> placed;
        std::vector<Bytes> placed_at;
        for (const std::size_t i : order) {
            placed.push_back(lifetimes[i]);
            placed_at.push_back(0);
            while (!is_placement(placed, placed_at)) {
                placed_at.back()++;
            }
            offsets[i] = placed_at.back();
        }
        lowest = std::min(lowest, height_of(lifetimes, offsets));
    } while (std::ranges::next_permutation(order).found);
    return lowest;
}

TEST(lifetimes_are_those_of_every_size_an_object_had) {
    test::TraceBuilder trace;
    trace.alloc(10);
    trace.alloc(0);
    trace.resize(0, 20);
    trace.resize(1, 5);
    trace.free(0);
    const std::vector<Lifetime> found = lifetimes_of(trace.events);
    CHECK(found.size() == 3);
    CHECK(found[0].from == 0 && found[0].until == 2 && found[0].size == 10);
    CHECK(found[1].from == 2 && found[1].until == 4 && found[1].size == 20);
    CHECK(found[2].from == 3 && found[2].until == 5 && found[2].size == 5);
    CHECK(peak_of(found) == 25);
}

TEST(the_peak_is_that_of_the_live_bytes) {
    for (std::uint64_t seed = 1; seed <= 10; seed++) {
        const auto events = draw(test::RandomTrace{.seed = seed});
        std::int64_t peak = 0;
        for (const auto &sizes : test::sizes_after_each_event(events)) {
            std::int64_t live = 0;
            for (const std::int64_t size : sizes) {
                live += std::max<std::int64_t>(size, 0);
            }
            peak = std::max(peak, live);
        }
        CHECK(peak_of(lifetimes_of(events)) == static_cast<Bytes>(peak));
    }
}

TEST(the_checker_agrees_with_looking_at_every_pair) {
    std::mt19937_64 random(3);
    int right = 0;
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= 40; seed++) {
        const auto lifetimes = lifetimes_of(
            draw(test::RandomTrace{.seed = seed, .events = 40, .live_limit = 6, .sizes = {1, 3}}));
        Packing packing = pack(lifetimes, {seed, 1000}, watch_nothing);
        for (int i = 0; i < 20; i++) {
            std::vector<Bytes> offsets = packing.offsets;
            offsets[random() % offsets.size()] = random() % (packing.height + 1);
            if (is_placement(lifetimes, offsets)) {
                CHECK(check_placement(lifetimes, offsets) == height_of(lifetimes, offsets));
                right++;
            } else {
                CHECK_ERROR("overlaps another in time and place",
                            check_placement(lifetimes, offsets));
                wrong++;
            }
        }
    }
    CHECK(right > 50 && wrong > 50);
}

TEST(what_is_packed_is_a_placement_between_the_peak_and_its_height) {
    for (std::uint64_t seed = 1; seed <= test::turns(15); seed++) {
        const auto lifetimes = lifetimes_of(draw(test::RandomTrace{.seed = seed, .events = 600}));
        for (const std::uint64_t pairs : {0u, 20'000u, 300'000u}) {
            const Packing packing = pack(lifetimes, {seed, pairs}, watch_nothing);
            CHECK(is_placement(lifetimes, packing.offsets));
            CHECK(packing.height == check_placement(lifetimes, packing.offsets));
            CHECK(packing.floor == peak_of(lifetimes) && packing.floor <= packing.height);
        }
    }
}

TEST(more_effort_is_never_higher_and_often_lower) {
    const std::uint64_t seeds = test::turns(30);
    std::uint64_t lower = 0;
    for (std::uint64_t seed = 1; seed <= seeds; seed++) {
        const auto lifetimes = lifetimes_of(draw(test::RandomTrace{.seed = seed, .events = 600}));
        const Packing quick = pack(lifetimes, {1, 0}, watch_nothing);
        const Packing slow = pack(lifetimes, {1, 500'000}, watch_nothing);
        CHECK(slow.height <= quick.height);
        lower += slow.height < quick.height ? 1 : 0;
    }
    CHECK(2 * lower >= seeds);
}

TEST(six_lifetimes_are_packed_as_low_as_can_be) {
    std::mt19937_64 random(11);
    for (int i = 0; i < 25; i++) {
        std::vector<Lifetime> lifetimes;
        for (int j = 0; j < 6; j++) {
            const std::uint64_t from = random() % 12;
            lifetimes.push_back({from, from + 1 + random() % 8, 1 + random() % 6});
        }
        std::ranges::sort(lifetimes, {}, &Lifetime::from);
        const Bytes lowest = lowest_height(lifetimes);
        CHECK(pack(lifetimes, {1, 500'000}, watch_nothing).height == lowest);
        for (const std::uint64_t seed : {1u, 2u}) { // the search ends, and its end is a proof
            const Packing proven = pack(lifetimes, {seed, 0, 100'000}, watch_nothing);
            CHECK(is_placement(lifetimes, proven.offsets));
            CHECK(proven.height == lowest && proven.floor == lowest);
        }
    }
}

TEST(ten_lifetimes_that_cannot_lie_as_low_as_their_peak_are_proven_so) {
    const std::vector<Lifetime> ten = {{0, 1, 3},  {0, 3, 4}, {0, 7, 1},  {1, 6, 1}, {1, 7, 1},
                                       {1, 10, 1}, {3, 6, 3}, {3, 10, 1}, {6, 7, 4}, {7, 10, 6}};
    const Packing packing = pack(ten, {1, 0, 1000}, watch_nothing);
    CHECK(peak_of(ten) == 8 && packing.height == 9 && packing.floor == 9);
    const Packing enough = pack(ten, {1, 0, 1000, 20}, watch_nothing);
    CHECK(enough.floor == 8 && enough.height <= 20 && enough.placements == 0);
}

// A rectangle of time and bytes cut in two again and again: it can be packed without any waste.
std::vector<Lifetime> cut_in_two(std::uint64_t seed, std::size_t count) {
    std::mt19937_64 random(seed);
    std::vector<Lifetime> parts{{0, count, 1024}};
    while (parts.size() < count) {
        Lifetime &part = parts[random() % parts.size()];
        Lifetime other = part;
        if (random() % 2 == 0 && part.until - part.from > 1) {
            part.until = part.from + 1 + random() % (part.until - part.from - 1);
            other.from = part.until;
        } else if (part.size > 1) {
            part.size = 1 + random() % (part.size - 1);
            other.size -= part.size;
        } else {
            continue;
        }
        parts.push_back(other);
    }
    std::ranges::stable_sort(parts, {}, &Lifetime::from); // one order with every C++ library
    return parts;
}

TEST(what_was_cut_from_a_rectangle_is_packed_into_it_again) {
    for (std::uint64_t seed = 1; seed <= 12; seed++) {
        const auto lifetimes = cut_in_two(seed, 10 * seed);
        const Packing packing = pack(lifetimes, {1, 0, 50'000}, watch_nothing);
        CHECK(is_placement(lifetimes, packing.offsets));
        CHECK(packing.height == 1024 && packing.floor == 1024);
    }
}

TEST(more_placements_raise_the_floor_and_lower_the_height) {
    int narrower = 0;
    for (std::uint64_t seed = 1; seed <= 8; seed++) {
        const auto lifetimes = lifetimes_of(draw(test::RandomTrace{.seed = seed, .events = 200}));
        const Packing quick = pack(lifetimes, {1, 0, 0}, watch_nothing);
        const Packing slow = pack(lifetimes, {1, 0, 10'000}, watch_nothing);
        CHECK(quick.placements == 0 && slow.placements <= 10'000);
        CHECK(slow.floor >= quick.floor && slow.height <= quick.height);
        CHECK(slow.floor <= slow.height);
        narrower += slow.height - slow.floor < quick.height - quick.floor ? 1 : 0;
    }
    CHECK(narrower >= 6);
}

// Each size freed by itself: in order of time the holes fit nothing.
std::vector<Lifetime> small_between_large() {
    std::vector<Lifetime> lifetimes;
    for (std::uint64_t i = 0; i < 400; i++) {
        const std::uint64_t from = 2 * i;
        lifetimes.push_back({from, from + 20 + 40 * (i % 7), i % 2 == 0 ? 48u : 100u});
    }
    return lifetimes;
}

TEST(common_sizes_lie_without_gaps_in_zones_of_their_own) {
    const auto lifetimes = small_between_large();
    const Bytes peak = peak_of(lifetimes);
    const Packing quick = pack(lifetimes, {1, 0}, watch_nothing);
    const Packing zoned = pack(lifetimes, {1, 100'000}, watch_nothing);
    CHECK(is_placement(lifetimes, zoned.offsets));
    CHECK(quick.zoned == 0 && zoned.zoned > 0);
    CHECK(quick.height - peak > zoned.height - peak + 100);
}

TEST(lifetimes_of_one_size_lie_no_higher_than_their_peak) {
    for (std::uint64_t seed = 1; seed <= 10; seed++) {
        const auto lifetimes = lifetimes_of(
            draw(test::RandomTrace{.seed = seed, .events = 500, .sizes = {72}, .resizes = false}));
        const Packing packing = pack(lifetimes, {seed, 1'000}, watch_nothing);
        CHECK(packing.height == packing.floor);
    }
}

// Small ones between large ones, and those of random traces.
TEST(a_seed_gives_the_same_placement_everywhere) {
    heapfit::test::FnvHash hash;
    for (std::uint64_t seed = 1; seed <= 4; seed++) {
        const auto lifetimes =
            seed % 2 == 0 ? small_between_large()
                          : lifetimes_of(draw(test::RandomTrace{.seed = seed, .events = 800}));
        const Packing packing = pack(lifetimes, {seed, 1'000'000}, watch_nothing);
        for (const Bytes offset : packing.offsets) {
            hash.mix(offset);
        }
        hash.mix(packing.zoned);
        hash.mix(packing.orders);
        hash.mix(packing.pairs);
    }
    CHECK(hash.value() == 0x39ce1c364777c0b5);
}

// Depends on the order of sections and lifetimes, and on how soon a contradiction is seen.
TEST(a_seed_tries_as_many_placements_everywhere) {
    const auto tried = [](std::uint64_t seed, std::size_t count) {
        return pack(cut_in_two(seed, count), {1, 0, 20'000}, watch_nothing).placements;
    };
    CHECK(tried(13, 100) == 6291);
    CHECK(tried(27, 100) == 1187);
    CHECK(tried(14, 140) == 2169);
}

TEST(a_stop_keeps_the_best_so_far) {
    const auto lifetimes =
        lifetimes_of(draw(test::RandomTrace{.seed = 5, .events = 2'000, .live_limit = 300}));
    const std::uint64_t tellings = test::turns(2);
    std::uint64_t told = 0;
    double done = 0;
    const Packing packing = pack(lifetimes, {1, 100'000'000}, [&](double share) {
        CHECK(done < share && share < 0.6); /* no placements are asked for: that half is done */
        done = share;
        return ++told < tellings;
    });
    CHECK(told == tellings && packing.is_stopped);
    CHECK(packing.height == check_placement(lifetimes, packing.offsets));
}

TEST(each_cell_of_a_picture_has_the_colour_that_covers_its_middle) {
    const auto lifetimes =
        lifetimes_of(draw(test::RandomTrace{.seed = 6, .events = 300, .live_limit = 20}));
    const Packing packing = pack(lifetimes, {1, 10'000}, watch_nothing);
    std::vector<std::uint8_t> colours(lifetimes.size());
    for (std::size_t i = 0; i < colours.size(); i++) {
        colours[i] = static_cast<std::uint8_t>(1 + i % 255);
    }
    const PictureSize size{37, 23, 300, packing.height + 5};
    const auto cells = paint(lifetimes, packing.offsets, colours, size);
    CHECK(cells.size() == size.columns * size.rows);
    for (std::uint64_t cell = 0; cell < cells.size(); cell++) {
        const std::uint64_t event = (2 * (cell % size.columns) + 1) * size.events;
        const std::uint64_t address = (2 * (cell / size.columns) + 1) * size.height;
        std::uint8_t colour = 0;
        for (std::size_t i = 0; i < lifetimes.size(); i++) {
            const Bytes begin = packing.offsets[i];
            const bool is_then = 2 * size.columns * lifetimes[i].from <= event &&
                                 event < 2 * size.columns * lifetimes[i].until;
            const bool is_there = 2 * size.rows * begin <= address &&
                                  address < 2 * size.rows * (begin + lifetimes[i].size);
            colour = is_then && is_there ? colours[i] : colour;
        }
        CHECK(cells[cell] == colour);
    }
}

TEST(a_picture_without_a_side_is_refused) {
    const std::vector<Lifetime> one{{0, 2, 8}};
    const auto painted = [&](PictureSize size, std::vector<Bytes> offsets) {
        return error_of([&] { (void)paint(one, offsets, std::vector<std::uint8_t>{1}, size); });
    };
    CHECK(painted({0, 1, 2, 8}, {0}) == "picture: one side is 0");
    CHECK(painted({1, 1, 2, 8}, {0, 8}) == "picture: more offsets than lifetimes or colours");
}

TEST(nothing_is_packed_into_nothing) {
    CHECK(pack({}, {}, watch_nothing).height == 0);
    CHECK(check_placement({}, {}) == 0);
}

} // namespace
