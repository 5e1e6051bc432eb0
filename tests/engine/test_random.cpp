// SPDX-License-Identifier: Apache-2.0
// Random numbers are numpy's bit for bit (values of numpy 2's Philox(key=seed).random_raw), and the
// logarithm is right to the last digit or the one before (values by decimal arithmetic).
#include <array>
#include <cstdint>
#include <vector>

#include "check.hpp"
#include "heapfit/random.hpp"

namespace {

using heapfit::negative_log;
using heapfit::Philox;

// -log(1 - u / 2^53) * 2^48 for u below 2^53.
std::uint64_t negative_log_of_complement(std::uint64_t u) {
    return u == 0 ? 0 : negative_log(((1ULL << 53) - u) << 11);
}

TEST(numbers_are_those_of_numpy) {
    struct Stream {
        std::uint64_t seed;
        std::array<std::uint64_t, 9> numbers;
    };
    static constexpr Stream streams[] = {
        {0,
         {0x02f4ba6408e4d89b, 0x3dd62b0b9ca8c5b2, 0x1c8667a55d902e79, 0x907d7a052fd5b4dc,
          0x809bf322883987c3, 0x471128b9e807f7dd, 0xf250ba0dbec065b7, 0xfc6ed66767a457bc,
          0x40fa86f0f781945d}},
        {1,
         {0x4db6a27b756282df, 0xd944fa03babe0e2f, 0x27f872e577060d32, 0x07f697696a0482a2,
          0xe677fe4bbd0452ec, 0x0d543dba56d1e799, 0xbebe12cad0eb4d9e, 0x3f0b4abd55f61f3d,
          0x6883d8d6d20a1807}},
        {UINT64_MAX,
         {0x3c2521c58dde5bfb, 0xb7a1ad5dae1306d7, 0x6942eae9fd2feb84, 0xb7552e878d1c26fe,
          0x59a439c096c17b4e, 0xc34ccc2492b8fcfe, 0x8537fbaa1803e440, 0x4e61296eee79ea30,
          0x0e44bf11f5921414}},
    };
    for (const Stream &stream : streams) {
        Philox random{stream.seed};
        for (const std::uint64_t number : stream.numbers) {
            CHECK(random.next() == number);
        }
    }
}

TEST(the_hundred_thousandth_number_is_that_of_numpy) {
    Philox random{7};
    for (int i = 1; i < 100'000; ++i) {
        (void)random.next();
    }
    CHECK(random.next() == 2053318010964462825U);
}

TEST(uniform_numbers_are_those_of_numpy) {
    Philox random{7};
    for (const double expected :
         {0x1.be80697053d3fp-1, 0x1.2e744337e3990p-2, 0x1.ae2e15f941aaap-2}) {
        CHECK(static_cast<double>(random.next53()) * 0x1p-53 == expected);
    }
}

TEST(bounded_numbers_are_below_their_bound_and_even) {
    constexpr std::uint64_t bound = 7;
    constexpr int count = 70'000;
    std::array<int, bound> seen{};
    Philox random{11};
    for (int i = 0; i < count; ++i) {
        seen.at(random.below(bound))++;
    }
    for (const int times : seen) { // 10,000 on average, deviation 93
        CHECK(times > 9'500 && times < 10'500);
    }
    CHECK(random.below(1) == 0);
}

// A quarter of all 64-bit numbers has to be drawn again for this bound; else numbers divisible
// by 3 come up twice as often as others.
TEST(a_large_bound_is_as_even) {
    constexpr std::uint64_t bound = (std::uint64_t{1} << 63) + (std::uint64_t{1} << 62);
    constexpr int count = 30'000;
    int divisible = 0;
    Philox random{11};
    for (int i = 0; i < count; ++i) {
        const std::uint64_t number = random.below(bound);
        CHECK(number < bound);
        divisible += number % 3 == 0 ? 1 : 0;
    }
    CHECK(divisible > count / 3 - 500 && divisible < count / 3 + 500);
}

// Bit by bit the logarithm of base 2 comes out exactly, rounded down.
TEST(the_logarithm_agrees_with_the_one_found_bit_by_bit) {
    __extension__ typedef unsigned __int128 Wide;
    constexpr std::uint64_t ln2_times_2_64 = 0xB17217F7D1CF79AB;
    Philox random{5};
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t x = random.next() >> i % 64 | 1;
        const std::uint64_t log2 = (std::uint64_t{64} << 48) - heapfit::log2_fixed(x);
        const auto expected = static_cast<std::uint64_t>((Wide{log2} * ln2_times_2_64) >> 64);
        const std::uint64_t log = heapfit::negative_log(x);
        CHECK(log + 1 >= expected && log <= expected + 1);
    }
    CHECK(heapfit::negative_log(UINT64_MAX) == 0);
    CHECK(heapfit::negative_log(std::uint64_t{1} << 63) == 195103586505167);
}

TEST(an_exponential_number_is_its_mean_times_the_logarithm) {
    constexpr std::uint64_t one = 1ULL << 48; // as negative_log_of_complement has it
    Philox random{3}, small{3}, same{3};
    for (int i = 0; i < 1000; ++i) {
        const std::uint64_t log = negative_log_of_complement(same.next53());
        CHECK(random.exponential(one << 9) == log << 9);
        CHECK(small.exponential(1) == (log + one / 2) >> 48);
    }
}

// Of lengths that are no multiples of a block, and with a bound that refuses every third number.
TEST(many_numbers_at_once_are_those_drawn_one_by_one) {
    constexpr std::uint64_t refusing = (1ULL << 63) + (1ULL << 61);
    Philox random{5}, same{5};
    for (std::size_t length = 0; length < 40; ++length) {
        std::vector<std::uint64_t> draws(length);
        random.fill(draws);
        for (const std::uint64_t draw : draws) {
            CHECK(draw == same.next());
        }
        for (const std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{1921}, refusing}) {
            random.fill_below(bound, draws);
            for (const std::uint64_t draw : draws) {
                CHECK(draw == same.below(bound));
            }
        }
        random.fill_exponential(1'000'000'007, draws);
        for (const std::uint64_t draw : draws) {
            CHECK(draw == same.exponential(1'000'000'007));
        }
    }
}

} // namespace
