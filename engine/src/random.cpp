// SPDX-License-Identifier: Apache-2.0
#include "heapfit/random.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "heapfit/compiler.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t multiplier_0 = 0xD2E7470EE14C6C93;
constexpr std::uint64_t multiplier_1 = 0xCA5A826395121157;
constexpr std::uint64_t weyl_0 = 0x9E3779B97F4A7C15;
constexpr std::uint64_t weyl_1 = 0xBB67AE8584CAA73B;

constexpr int fraction_bits = 48;
constexpr std::uint64_t ln2_times_2_64 = 0xB17217F7D1CF79AB;

constexpr int centre_bits = 8; // 256 centres
constexpr int log_bits = 57;   // of a logarithm up to 64 log(2) while it is computed

// log2(x) * 2^bits, rounded down. The square of a number in [1, 2) is in [1, 4): whether it reaches
// 2 is the next bit of the logarithm.
constexpr std::uint64_t log2_of(std::uint64_t x, int bits) {
    const int whole = 63 - std::countl_zero(x);
    std::uint64_t mantissa = x << (63 - whole); // in [1, 2), 63 bits of fraction
    std::uint64_t log = static_cast<std::uint64_t>(whole);
    for (int i = 0; i < bits; ++i) {
        const Wide square = Wide{mantissa} * mantissa; // in [1, 4), 126 bits of fraction
        const auto upper = static_cast<std::uint64_t>(square >> 64);
        const std::uint64_t lower_top = static_cast<std::uint64_t>(square) >> 63;
        const std::uint64_t reaches_2 = upper >> 63; // a coin toss: a branch would cost more
        mantissa = upper << (1 - reaches_2) | (lower_top & (1 - reaches_2));
        log = log << 1 | reaches_2;
    }
    return log;
}

struct Centre {
    std::uint64_t inverse;      // 1 / centre, times 2^57
    std::uint64_t negative_log; // -log(centre) * 2^57
};

// Of mantissas from 1/2 to 1, those whose next bits after the first are i: their middle.
constexpr auto logarithms_of_centres() {
    std::array<Centre, 1 << centre_bits> centres{};
    for (std::uint64_t i = 0; i < centres.size(); ++i) {
        const std::uint64_t middle = (2 * (centres.size() + i) + 1) << (62 - centre_bits);
        const std::uint64_t log2 = (64ULL << log_bits) - log2_of(middle, log_bits);
        centres[i] = {static_cast<std::uint64_t>((Wide{1} << (64 + log_bits)) / middle),
                      static_cast<std::uint64_t>((Wide{log2} * ln2_times_2_64) >> 64)};
    }
    return centres;
}

// 1, 1, 1/2, 1/6, ... of the series of e^t.
constexpr auto inverse_factorials() {
    std::array<double, 15> factors{1};
    double factorial = 1;
    for (std::size_t n = 1; n < factors.size(); ++n) {
        factorial *= static_cast<double>(n);
        factors[n] = 1 / factorial;
    }
    return factors;
}

std::int64_t product(std::int64_t a, std::int64_t b) {
    return shifted_product(a, b, log_bits);
}

// log(1 + r) with 57 bits of fraction, for an |r| up to 2^-9: the first five terms of its series.
std::uint64_t log_of_near_1(std::int64_t r) {
    constexpr std::int64_t one = std::int64_t{1} << log_bits;
    const std::int64_t tail = one / 3 - product(r, one / 4 - product(r, one / 5));
    return static_cast<std::uint64_t>(r - product(product(r, r), one / 2 - product(r, tail)));
}

// x is 2^(64 - z) times a mantissa from 1/2 to 1; its first bits choose a centre c, and
// -log(x / 2^64) is z log(2) - log(c) - log(1 + r) where the mantissa is c (1 + r).
[[gnu::always_inline]] inline std::uint64_t negative_log_of(std::uint64_t x) {
    static constexpr auto centres = logarithms_of_centres();
    const int zeros = std::countl_zero(x);
    const std::uint64_t mantissa = x << zeros;
    const Centre &centre = centres[mantissa << 1 >> (64 - centre_bits)];
    const auto ratio = static_cast<std::uint64_t>((Wide{mantissa} * centre.inverse) >> 64);
    const auto r = static_cast<std::int64_t>(ratio - (std::uint64_t{1} << log_bits));
    const std::uint64_t log =
        static_cast<std::uint64_t>(zeros) * (ln2_times_2_64 >> (64 - log_bits)) +
        centre.negative_log - log_of_near_1(r);
    constexpr int spare = log_bits - fraction_bits;
    return (log + (std::uint64_t{1} << (spare - 1))) >> spare;
}

// The exponential draw of 64 random bits. The upper 53 are u, and 2^64 - u 2^11 is (1 - u / 2^53)
// 2^64; that is 0 here where u is 0.
[[gnu::always_inline]] inline std::uint64_t exponential_from(std::uint64_t mean,
                                                             std::uint64_t bits) {
    constexpr Wide half = Wide{1} << (fraction_bits - 1);
    const std::uint64_t complement = 0 - (bits & ~std::uint64_t{0x7ff});
    const std::uint64_t log = complement == 0 ? 0 : negative_log_of(complement);
    return static_cast<std::uint64_t>((Wide{mean} * log + half) >> fraction_bits);
}

} // namespace

Philox::Philox(std::uint64_t seed, std::uint64_t stream) {
    for (std::array<std::uint64_t, 2> &key : keys_) {
        key = {seed, stream};
        seed += weyl_0;
        stream += weyl_1;
    }
}

[[gnu::always_inline]] inline Philox::Block Philox::next_block() {
    for (std::uint64_t &word : counter_) { // counts from 1, as numpy does
        if (++word != 0) {
            break;
        }
    }
    auto [a, b, c, d] = counter_;
    for (const auto &[key_0, key_1] : keys_) {
        const Wide product_0 = Wide{multiplier_0} * a;
        const Wide product_1 = Wide{multiplier_1} * c;
        a = static_cast<std::uint64_t>(product_1 >> 64) ^ b ^ key_0;
        b = static_cast<std::uint64_t>(product_1);
        c = static_cast<std::uint64_t>(product_0 >> 64) ^ d ^ key_1;
        d = static_cast<std::uint64_t>(product_0);
    }
    return {a, b, c, d};
}

void Philox::refill() {
    block_ = next_block();
    used_ = 0;
}

void Philox::fill(std::span<std::uint64_t> draws) {
    std::size_t i = 0;
    while (i < draws.size() && used_ < block_.size()) {
        draws[i++] = next();
    }
    for (; i + block_.size() <= draws.size(); i += block_.size()) {
        std::ranges::copy(next_block(), draws.begin() + static_cast<std::ptrdiff_t>(i));
    }
    while (i < draws.size()) {
        draws[i++] = next();
    }
}

std::uint64_t log2_fixed(std::uint64_t x) {
    return log2_of(x, fraction_bits);
}

std::uint64_t negative_log(std::uint64_t x) {
    return negative_log_of(x);
}

std::uint64_t Philox::exponential(std::uint64_t mean) {
    return exponential_from(mean, next());
}

void Philox::fill_exponential(std::uint64_t mean, std::span<std::uint64_t> draws) {
    fill(draws);
    for (std::uint64_t &draw : draws) {
        draw = exponential_from(mean, draw);
    }
}

// A point of the unit disk, drawn from the square around it on a grid that leaves out its centre.
double Philox::normal() {
    constexpr std::int64_t radius = std::int64_t{1} << 31;
    for (;;) {
        const std::int64_t x = static_cast<std::int64_t>(next() >> 32 | 1) - radius;
        const std::int64_t y = static_cast<std::int64_t>(next() >> 32 | 1) - radius;
        const auto square = static_cast<std::uint64_t>(x * x) + static_cast<std::uint64_t>(y * y);
        if (square < std::uint64_t{radius} * radius) {
            const double log = static_cast<double>(negative_log(square << 2)) * 0x1p-48;
            const double distance = static_cast<double>(square) * 0x1p-62;
            return static_cast<double>(x) * 0x1p-31 * std::sqrt(2 * log / distance);
        }
    }
}

// e^y = 2^n e^t with an |t| up to log(2) / 2, e^t by its series. The two parts of log(2) make
// n log(2) exact but for the last digits of the small part.
double exponential_of(double y) {
    static constexpr auto factors = inverse_factorials();
    constexpr double log2_e = 0x1.71547652b82fep+0;
    constexpr double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;
    const auto n = static_cast<std::int64_t>(y * log2_e + (y < 0 ? -0.5 : 0.5));
    const double t = (y - static_cast<double>(n) * ln2_high) - static_cast<double>(n) * ln2_low;
    double sum = 0;
    for (auto term = factors.rbegin(); term != factors.rend(); ++term) {
        sum = *term + sum * t;
    }
    return sum * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
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

// A number that `below` would refuse is left out; those that lack then are drawn behind.
void Philox::fill_below(std::uint64_t bound, std::span<std::uint64_t> draws) {
    fill(draws);
    const std::uint64_t surplus = (0 - bound) % bound;
    std::size_t kept = 0;
    for (const std::uint64_t bits : draws) {
        const Wide product = Wide{bits} * bound;
        draws[kept] = static_cast<std::uint64_t>(product >> 64);
        kept += static_cast<std::uint64_t>(product) >= surplus;
    }
    while (kept < draws.size()) {
        draws[kept++] = below(bound);
    }
}

} // namespace heapfit
