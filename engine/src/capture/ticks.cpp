// SPDX-License-Identifier: Apache-2.0
#include "capture/ticks.hpp"

#include "heapfit/capture/packets.hpp"

namespace heapfit {

namespace {

__extension__ typedef __int128 Wide;

constexpr std::int64_t us_per_second = 1'000'000;

// 10^n; for n above 18 a number larger than any count, so that what it divides is 0.
constexpr Wide power_of_ten(unsigned n) {
    Wide power = 1;
    for (unsigned i = 0; i < n && power < Wide{1} << 64; ++i) {
        power *= 10;
    }
    return power;
}

constexpr unsigned of_us = 6; // the exponent of a microsecond

Wide scaled(Wide ticks, std::uint8_t resolution) {
    const unsigned exponent = resolution & 0x7fU;
    if ((resolution & 0x80U) != 0) {
        return (ticks * us_per_second) >> exponent;
    }
    if (exponent == 9) { // the usual one after 6; a division of 64 bits is much faster
        return static_cast<std::int64_t>(ticks) / 1000;
    }
    return exponent <= of_us ? ticks * power_of_ten(of_us - exponent)
                             : ticks / power_of_ten(exponent - of_us);
}

} // namespace

std::optional<std::int64_t> ticks_to_us(std::uint64_t ticks, std::uint8_t resolution,
                                        std::int64_t offset_seconds) {
    const Wide time =
        scaled(static_cast<std::int64_t>(ticks), resolution) + Wide{offset_seconds} * us_per_second;
    if (time <= -Wide{time_limit_us} || time >= Wide{time_limit_us}) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(time);
}

} // namespace heapfit
