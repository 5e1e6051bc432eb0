// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine, compiler and C library: Philox4x64-10 (Salmon
// et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), with the key, counter and order of
// numpy's Philox(key=seed). Draws are made of integer arithmetic alone, but for `normal`: that is
// sums, products, quotients and square roots of doubles, which IEEE 754 rounds alike everywhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heapfit {

class Philox {
  public:
    // Streams of one seed are independent of each other; stream 0 is numpy's.
    explicit Philox(std::uint64_t seed, std::uint64_t stream = 0);

    // The next 64 bits.
    [[nodiscard]] std::uint64_t next() {
        if (used_ == block_.size()) {
            refill();
        }
        return block_[used_++];
    }

    // Uniform over 0 .. 2^53 - 1; divided by 2^53 it is numpy's Generator.random().
    [[nodiscard]] std::uint64_t next53() { return next() >> 11; }

    // Uniform over 0 .. bound - 1, for a bound of 1 or more, without bias (Lemire 2019, "Fast
    // random integer generation in an interval").
    [[nodiscard]] std::uint64_t below(std::uint64_t bound);

    // Exponentially distributed with this mean (below 2^58), rounded to a whole number:
    // -mean * log(1 - u), u = next53() / 2^53.
    [[nodiscard]] std::uint64_t exponential(std::uint64_t mean);

    // As many draws of `next`, `below` or `exponential` one after the other, for less.
    void fill(std::span<std::uint64_t> draws);
    void fill_below(std::uint64_t bound, std::span<std::uint64_t> draws);
    void fill_exponential(std::uint64_t mean, std::span<std::uint64_t> draws);

    // Normally distributed, mean 0, deviation 1 (Marsaglia and Bray 1964, the polar method).
    [[nodiscard]] double normal();

  private:
    static constexpr std::size_t rounds = 10;
    using Block = std::array<std::uint64_t, 4>;

    [[nodiscard]] Block next_block();
    void refill();

    std::array<std::array<std::uint64_t, 2>, rounds> keys_; // of each round
    Block counter_{};
    Block block_{};
    unsigned used_ = 4; // numbers of the block already given
};

// log2(x) * 2^48 for x of 1 and above, rounded down: bit by bit.
[[nodiscard]] std::uint64_t log2_fixed(std::uint64_t x);

// -log(x / 2^64) * 2^48 for x of 1 and above, within one unit.
[[nodiscard]] std::uint64_t negative_log(std::uint64_t x);

// e^y within a few units of the last digit, for a y from -700 to 700.
[[nodiscard]] double exponential_of(double y);

} // namespace heapfit
