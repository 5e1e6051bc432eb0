// SPDX-License-Identifier: Apache-2.0
#include "heapfit/workload/slot_walk.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "heapfit/compiler.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr int fraction_bits = 48;
constexpr Bytes largest_size = Bytes{1} << 31;
constexpr std::uint64_t most_slots = 1 << 24;

constexpr std::uint64_t square_root(Wide square) {
    std::uint64_t root = 0;
    for (int bit = 63; bit >= 0; --bit) {
        const std::uint64_t tried = root | std::uint64_t{1} << bit;
        root = Wide{tried} * tried <= square ? tried : root;
    }
    return root;
}

constexpr std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint64_t>((Wide{a} * b) >> 64);
}

constexpr int digit_bits = 6;
constexpr std::size_t digits = fraction_bits / digit_bits;
constexpr std::size_t digit_values = 1 << digit_bits;

// 2^(-d / 64), 2^(-d / 64^2), ... times 2^64 for the digits d of an exponent, above 0: products of
// 2^(-1/2), 2^(-1/4), 2^(-1/8), ... for the bits of d.
constexpr auto powers_by_digit() {
    std::array<std::array<std::uint64_t, digit_values>, digits> powers{};
    Wide square = Wide{1} << 127;
    for (auto &digit : powers) {
        for (std::size_t bit = digit_values / 2; bit > 0; bit /= 2) {
            const std::uint64_t root = square_root(square);
            square = Wide{root} << 64;
            digit[bit] = root;
        }
        for (std::size_t value = 1; value < digit_values; ++value) {
            const std::size_t rest = value & (value - 1);
            digit[value] =
                rest == 0 ? digit[value] : high_product(digit[rest], digit[value ^ rest]);
        }
    }
    return powers;
}

// number / 2^(exponent / 2^48), rounded down but for the last bits of 63: the power digit by digit.
std::uint64_t divided_by_power(std::uint64_t number, std::uint64_t exponent) {
    static constexpr auto powers = powers_by_digit();
    std::uint64_t power = std::uint64_t{1} << 63;
    for (std::size_t i = 0; i < digits; ++i) {
        const std::size_t shift = digit_bits * (digits - 1 - i);
        const std::uint64_t digit = exponent >> shift & (digit_values - 1);
        power = digit == 0 ? power : high_product(power, powers[i][digit]);
    }
    return static_cast<std::uint64_t>((Wide{number} * power) >> 63 >> (exponent >> fraction_bits));
}

} // namespace

SizeLaw::SizeLaw(Bytes least, Bytes most) : least_(least), most_(most), log2_ratio_(0) {
    if (least < 1 || least > most || most > largest_size) {
        throw Error("sizes: " + std::to_string(least) + " to " + std::to_string(most) +
                    " is no range (the least must be 1 or more, the most at most 2^31)");
    }
    log2_ratio_ = log2_fixed(most) - log2_fixed(least);
}

Bytes SizeLaw::draw(Philox &random) const {
    const Wide exponent = Wide{random.next53()} * log2_ratio_;
    const Bytes size = divided_by_power(most_, static_cast<std::uint64_t>(exponent >> 53));
    return std::max(size, least_);
}

SlotWalk::SlotWalk(std::uint64_t slots) {
    if (slots < 1 || slots > most_slots) {
        throw Error("slots: " + std::to_string(slots) + " (there must be 1 to " +
                    std::to_string(most_slots) + ")");
    }
    is_occupied_.resize(slots);
}

SlotStep SlotWalk::next(Philox &random) {
    const auto slot = static_cast<std::uint32_t>(high_product(random.next(), is_occupied_.size()));
    is_occupied_[slot].flip();
    return {slot, !is_occupied_[slot]};
}

} // namespace heapfit
