// SPDX-License-Identifier: Apache-2.0
// What stands in for integers of 128 bits and builtins computes what these do: beside them where
// the compiler has them, and by figures known beforehand everywhere.
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>

#include "capture/ticks.hpp"
#include "check.hpp"
#include "heapfit/compiler.hpp"
#include "heapfit/random.hpp"

namespace {

using heapfit::Philox;
using heapfit::PlainWide;

constexpr auto top = std::uint64_t{1} << 63;

constexpr std::uint64_t low(PlainWide wide) {
    return static_cast<std::uint64_t>(wide);
}

constexpr std::uint64_t high(PlainWide wide) {
    return static_cast<std::uint64_t>(wide >> 64);
}

TEST(figures_that_are_known) {
    constexpr std::uint64_t most = UINT64_MAX;
    constexpr PlainWide square = PlainWide{most} * most; // 2^128 - 2^65 + 1
    static_assert(high(square) == most - 1 && low(square) == 1);
    static_assert(square + PlainWide{most} + most == ~PlainWide{0});
    static_assert(PlainWide{0} - PlainWide{1} == ~PlainWide{0});
    static_assert(low((PlainWide{1} << 121) / 3) == 0xaaaaaaaaaaaaaaaa);
    static_assert(~PlainWide{0} / 1 == ~PlainWide{0} && square / most == PlainWide{most});
    static_assert((PlainWide{top} << 1) == (PlainWide{1} << 64) && (PlainWide{1} << 127) > top);
    CHECK((PlainWide{1} << 100).to_double() == 0x1p100);
    CHECK((PlainWide{1} << 100) == PlainWide::from_double(0x1p100));
    // Half way between two doubles, and a little more, which 64 bits do not see.
    CHECK((((PlainWide{1} << 53) + 1) << 47).to_double() == 0x1p100);
    CHECK(((((PlainWide{1} << 53) + 1) << 47) + 1).to_double() > 0x1p100);
    CHECK(heapfit::shifted_product(-3, 5, 1) == -8);
    CHECK(heapfit::shifted_product(INT64_MIN, INT64_MIN, 63) == INT64_MIN);
    CHECK(heapfit::swap_bytes(std::uint16_t{0x1234}) == 0x3412);
    CHECK(heapfit::swap_bytes(0x0123456789abcdefU) == 0xefcdab8967452301U);
    std::uint64_t number = std::uint64_t{1} << 32;
    CHECK(!heapfit::multiply(number, 0xffffffff) && number == 0xffffffff00000000);
    CHECK(heapfit::multiply(number, 0x100000001));
    std::uint32_t small = 3;
    CHECK(!heapfit::subtract(small, 3U) && small == 0);
    CHECK(heapfit::subtract(small, 1U) && small == UINT32_MAX);
}

TEST(ticks_below_and_above_the_epoch) {
    struct Case {
        std::int64_t ticks;
        std::uint8_t resolution;
        std::int64_t offset;
        std::optional<std::int64_t> us;
    };
    static constexpr Case cases[] = {
        {-1, 9, 0, 0},
        {-1'001, 9, 0, -1},
        {-1, 0x80 | 20, 0, -1},
        {3, 0x80 | 1, 0, 1'500'000},
        {-7, 0, 1, -6'000'000},
        {-19, 7, 0, -1},
        {INT64_MAX, 24, 0, 9},
        {INT64_MAX, 25, 0, 0},
        {INT64_MIN, 127, -1, -1'000'000},
        {INT64_MIN, 0xff, 0, -1},
        {INT64_MAX, 6, 0, {}},
        {(INT64_MAX >> 1), 6, 0, INT64_MAX >> 1},
        {(INT64_MAX >> 1) + 1, 6, 0, {}},
        {INT64_MIN / 2, 6, 0, {}},
        {INT64_MIN / 2 + 1, 6, 0, INT64_MIN / 2 + 1},
        {0, 6, INT64_MIN, {}},
        {INT64_MAX, 0, INT64_MIN, -1'000'000},
    };
    for (const auto &[ticks, resolution, offset, us] : cases) {
        CHECK(heapfit::ticks_to_us(static_cast<std::uint64_t>(ticks), resolution, offset) == us);
    }
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 Native;

Native native(PlainWide wide) {
    return Native{high(wide)} << 64 | low(wide);
}

// Words of few bits as well as of many, both at either end.
std::uint64_t word(Philox &random) {
    const std::uint64_t bits = random.next() >> random.below(64);
    return random.below(2) == 0 ? bits : ~bits;
}

TEST(plain_integers_compute_what_the_compilers_do) {
    Philox random(1, 0);
    for (int i = 0; i < 20'000; ++i) {
        const PlainWide a = (PlainWide{word(random)} << 64) + word(random);
        const PlainWide b = (PlainWide{word(random)} << 64) + word(random);
        const Native x = native(a), y = native(b);
        const std::uint64_t divisor = word(random) | 1;
        const auto count = random.below(128);
        CHECK(native(a + b) == x + y && native(a - b) == x - y && native(a * b) == x * y);
        CHECK(native(a << count) == x << count && native(a >> count) == x >> count);
        CHECK(native(a ^ b) == (x ^ y) && native(~a) == ~x && native(a / divisor) == x / divisor);
        CHECK((a < b) == (x < y) && (a == b) == (x == y));
        CHECK(a.to_double() == static_cast<double>(x));
        const double value =
            std::ldexp(static_cast<double>(word(random)), static_cast<int>(random.below(64)));
        CHECK(native(PlainWide::from_double(value)) == static_cast<Native>(value));
    }
}
#endif

} // namespace
