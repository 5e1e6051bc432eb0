// SPDX-License-Identifier: Apache-2.0
#include "heapfit/slot_walk.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

__extension__ typedef unsigned __int128 Wide;

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

// 2^(-1/2), 2^(-1/4), 2^(-1/8), ... times 2^64.
constexpr std::array<std::uint64_t, fraction_bits> roots_of_half() {
    std::array<std::uint64_t, fraction_bits> roots{};
    Wide square = Wide{1} << 127;
    for (std::uint64_t &root : roots) {
        root = square_root(square);
        square = Wide{root} << 64;
    }
    return roots;
}

// number / 2^(exponent / 2^48), rounded down but for the last bits of 63: the power bit by bit.
std::uint64_t divided_by_power(std::uint64_t number, std::uint64_t exponent) {
    static constexpr auto roots = roots_of_half();
    std::uint64_t power = std::uint64_t{1} << 63;
    for (int i = 0; i < fraction_bits; ++i) {
        if ((exponent >> (fraction_bits - 1 - i) & 1) != 0) {
            power = static_cast<std::uint64_t>((Wide{power} * roots[i]) >> 64);
        }
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
    const auto slot = static_cast<std::uint32_t>((Wide{random.next()} * is_occupied_.size()) >> 64);
    is_occupied_[slot].flip();
    return {slot, !is_occupied_[slot]};
}

} // namespace heapfit
