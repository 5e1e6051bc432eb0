// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine, compiler and C library: Philox4x64-10 (Salmon
// et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), with the key, counter and order of
// numpy's Philox(key=seed), and draws made of integer arithmetic alone.
#pragma once

#include <array>
#include <cstdint>

namespace heapfit {

class Philox {
  public:
    explicit Philox(std::uint64_t seed) : key_{seed, 0} {}

    // The next 64 bits.
    [[nodiscard]] std::uint64_t next();

    // Uniform over 0 .. 2^53 - 1; divided by 2^53 it is numpy's Generator.random().
    [[nodiscard]] std::uint64_t next53() { return next() >> 11; }

    // Uniform over 0 .. bound - 1, for a bound of 1 or more, without bias (Lemire 2019, "Fast
    // random integer generation in an interval").
    [[nodiscard]] std::uint64_t below(std::uint64_t bound);

    // Exponentially distributed with this mean (below 2^58), rounded to a whole number:
    // -mean * log(1 - u), u = next53() / 2^53.
    [[nodiscard]] std::uint64_t exponential(std::uint64_t mean);

  private:
    std::array<std::uint64_t, 2> key_;
    std::array<std::uint64_t, 4> counter_{};
    std::array<std::uint64_t, 4> block_{};
    unsigned used_ = 4; // numbers of the block already given
};

// log2(x) * 2^48 for x of 1 and above, rounded down: bit by bit.
[[nodiscard]] std::uint64_t log2_fixed(std::uint64_t x);

// -log(1 - u / 2^53) * 2^48 for u below 2^53, within one unit: the logarithm bit by bit.
[[nodiscard]] std::uint64_t negative_log_of_complement(std::uint64_t u);

} // namespace heapfit
