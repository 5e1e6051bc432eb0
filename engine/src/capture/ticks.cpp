// SPDX-License-Identifier: Apache-2.0
#include "capture/ticks.hpp"

#include "heapfit/capture/packets.hpp"
#include "heapfit/compiler.hpp"

namespace heapfit {

namespace {

constexpr std::int64_t us_per_second = 1'000'000;
constexpr unsigned of_us = 6;          // the exponent of a microsecond
constexpr unsigned largest_power = 18; // of ten; what is beyond divides any count of ticks to 0

constexpr std::uint64_t power_of_ten(unsigned n) {
    return n == 0 ? 1 : 10 * power_of_ten(n - 1);
}

// A number below 0 is 2^128 larger.
Wide widened(std::int64_t number) {
    return number < 0 ? Wide{0} - Wide{0 - static_cast<std::uint64_t>(number)}
                      : Wide{static_cast<std::uint64_t>(number)};
}

// To 0, as integers of C++.
Wide divided(std::int64_t ticks, std::uint64_t by) {
    const auto quotient = Wide{ticks < 0 ? 0 - static_cast<std::uint64_t>(ticks)
                                         : static_cast<std::uint64_t>(ticks)} /
                          by;
    return ticks < 0 ? Wide{0} - quotient : quotient;
}

Wide scaled(std::int64_t ticks, std::uint8_t resolution) {
    const unsigned exponent = resolution & 0x7fU;
    if ((resolution & 0x80U) != 0) { // down, also below 0
        const Wide product = widened(ticks) * static_cast<std::uint64_t>(us_per_second);
        return ticks < 0 ? ~(~product >> exponent) : product >> exponent;
    }
    if (exponent == 9) { // the usual one after 6; a division of 64 bits is much faster
        return widened(ticks / 1000);
    }
    if (exponent <= of_us) {
        return widened(ticks) * power_of_ten(of_us - exponent);
    }
    return exponent - of_us > largest_power ? Wide{0}
                                            : divided(ticks, power_of_ten(exponent - of_us));
}

} // namespace

std::optional<std::int64_t> ticks_to_us(std::uint64_t ticks, std::uint8_t resolution,
                                        std::int64_t offset_seconds) {
    const Wide offset = widened(offset_seconds) * static_cast<std::uint64_t>(us_per_second);
    const Wide time = scaled(static_cast<std::int64_t>(ticks), resolution) + offset;
    constexpr auto limit = static_cast<std::uint64_t>(time_limit_us);
    if (time + (limit - 1) >= Wide{2 * limit - 1}) { // -limit or less, limit or more
        return std::nullopt;
    }
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(time));
}

} // namespace heapfit
