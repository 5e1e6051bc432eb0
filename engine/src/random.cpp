// SPDX-License-Identifier: Apache-2.0
#include "heapfit/random.hpp"

#include <bit>

namespace heapfit {

namespace {

__extension__ typedef unsigned __int128 Wide;

constexpr int rounds = 10;
constexpr std::uint64_t multiplier_0 = 0xD2E7470EE14C6C93;
constexpr std::uint64_t multiplier_1 = 0xCA5A826395121157;
constexpr std::uint64_t weyl_0 = 0x9E3779B97F4A7C15;
constexpr std::uint64_t weyl_1 = 0xBB67AE8584CAA73B;

constexpr int fraction_bits = 48;
constexpr std::uint64_t ln2_times_2_64 = 0xB17217F7D1CF79AB;

using Block = std::array<std::uint64_t, 4>;

Block shuffled(Block block, std::array<std::uint64_t, 2> key) {
    for (int round = 0; round < rounds; ++round) {
        const Wide product_0 = Wide{multiplier_0} * block[0];
        const Wide product_1 = Wide{multiplier_1} * block[2];
        block = {static_cast<std::uint64_t>(product_1 >> 64) ^ block[1] ^ key[0],
                 static_cast<std::uint64_t>(product_1),
                 static_cast<std::uint64_t>(product_0 >> 64) ^ block[3] ^ key[1],
                 static_cast<std::uint64_t>(product_0)};
        key[0] += weyl_0;
        key[1] += weyl_1;
    }
    return block;
}

} // namespace

std::uint64_t Philox::next() {
    if (used_ == block_.size()) {
        for (std::uint64_t &word : counter_) { // counts from 1, as numpy does
            if (++word != 0) {
                break;
            }
        }
        block_ = shuffled(counter_, key_);
        used_ = 0;
    }
    return block_[used_++];
}

// The square of a number in [1, 2) is in [1, 4): whether it reaches 2 is the next bit of the
// logarithm.
std::uint64_t log2_fixed(std::uint64_t x) {
    const int whole = 63 - std::countl_zero(x);
    std::uint64_t mantissa = x << (63 - whole); // in [1, 2), 63 bits of fraction
    std::uint64_t log = static_cast<std::uint64_t>(whole);
    for (int i = 0; i < fraction_bits; ++i) {
        const Wide square = Wide{mantissa} * mantissa; // in [1, 4), 126 bits of fraction
        const auto upper = static_cast<std::uint64_t>(square >> 64);
        const std::uint64_t lower_top = static_cast<std::uint64_t>(square) >> 63;
        const std::uint64_t reaches_2 = upper >> 63; // a coin toss: a branch would cost more
        mantissa = upper << (1 - reaches_2) | (lower_top & (1 - reaches_2));
        log = log << 1 | reaches_2;
    }
    return log;
}

std::uint64_t negative_log_of_complement(std::uint64_t u) {
    constexpr std::uint64_t one = 1ULL << 53;
    const std::uint64_t log2 = (53ULL << fraction_bits) - log2_fixed(one - u);
    return static_cast<std::uint64_t>((Wide{log2} * ln2_times_2_64) >> 64);
}

std::uint64_t Philox::exponential(std::uint64_t mean) {
    constexpr Wide half = Wide{1} << (fraction_bits - 1);
    const Wide scaled = Wide{mean} * negative_log_of_complement(next53());
    return static_cast<std::uint64_t>((scaled + half) >> fraction_bits);
}

std::uint64_t Philox::below(std::uint64_t bound) {
    Wide product = Wide{next()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
        const std::uint64_t surplus = (0 - bound) % bound; // 2^64 modulo the bound
        while (static_cast<std::uint64_t>(product) < surplus) {
            product = Wide{next()} * bound;
        }
    }
    return static_cast<std::uint64_t>(product >> 64);
}

} // namespace heapfit
