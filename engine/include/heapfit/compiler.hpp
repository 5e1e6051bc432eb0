// SPDX-License-Identifier: Apache-2.0
// What the engine asks of a compiler beyond C++20: the one place with integers of 128 bits and
// builtins. gcc and clang have both. Visual Studio's compiler has neither, and clang for its ABI
// lacks the library that divides such integers: these get plain C++, which computes the same. So
// does a build with -DHFIT_PLAIN.
#pragma once

#include <bit>
#include <cmath>
#include <compare>
#include <concepts>
#include <cstdint>

#if defined __SIZEOF_INT128__ && !defined _MSC_VER && !defined HFIT_PLAIN
#define HFIT_HAS_WIDE 1
#else
#define HFIT_HAS_WIDE 0
#endif
#if defined __GNUC__ && !defined HFIT_PLAIN
#define HFIT_HAS_BUILTINS 1
#else
#define HFIT_HAS_BUILTINS 0
#endif

namespace heapfit {

// An unsigned integer of 128 bits by two words. Shifts are by less than 128.
class PlainWide {
  public:
    constexpr PlainWide(std::uint64_t low = 0) : low_(low) {}

    constexpr explicit operator std::uint64_t() const { return low_; }

    constexpr PlainWide &operator+=(PlainWide other) {
        low_ += other.low_;
        high_ += other.high_ + (low_ < other.low_);
        return *this;
    }
    friend constexpr PlainWide operator+(PlainWide a, PlainWide b) { return a += b; }
    friend constexpr PlainWide operator-(PlainWide a, PlainWide b) { return a + ~b + 1; }
    friend constexpr PlainWide operator~(PlainWide a) { return of(~a.high_, ~a.low_); }
    friend constexpr PlainWide operator^(PlainWide a, PlainWide b) {
        return of(a.high_ ^ b.high_, a.low_ ^ b.low_);
    }

    friend constexpr PlainWide operator*(PlainWide a, PlainWide b) {
        PlainWide product = product_of(a.low_, b.low_);
        product.high_ += a.high_ * b.low_ + a.low_ * b.high_;
        return product;
    }

    // Bit by bit: only tables and rare units of time are made so.
    friend constexpr PlainWide operator/(PlainWide a, std::uint64_t divisor) {
        PlainWide quotient;
        PlainWide rest;
        for (int bit = 127; bit >= 0; --bit) {
            rest = (rest << 1) + (static_cast<std::uint64_t>(a >> bit) & 1);
            quotient = quotient << 1;
            if (rest >= divisor) {
                rest = rest - divisor;
                quotient += 1;
            }
        }
        return quotient;
    }

    template <std::integral Count> friend constexpr PlainWide operator<<(PlainWide a, Count count) {
        return count == 0    ? a
               : count >= 64 ? of(a.low_ << (count - 64), 0)
                             : of(a.high_ << count | a.low_ >> (64 - count), a.low_ << count);
    }
    template <std::integral Count> friend constexpr PlainWide operator>>(PlainWide a, Count count) {
        return count == 0    ? a
               : count >= 64 ? of(0, a.high_ >> (count - 64))
                             : of(a.high_ >> count, a.low_ >> count | a.high_ << (64 - count));
    }

    friend constexpr bool operator==(PlainWide, PlainWide) = default;
    friend constexpr std::strong_ordering operator<=>(PlainWide a, PlainWide b) {
        return a.high_ != b.high_ ? a.high_ <=> b.high_ : a.low_ <=> b.low_;
    }

    // To the nearest, as a conversion of the compiler's: bits that are lost count in one of them.
    [[nodiscard]] double to_double() const {
        if (high_ == 0) {
            return static_cast<double>(low_);
        }
        const int shift = 64 - std::countl_zero(high_);
        const PlainWide front = *this >> shift;
        const bool is_more = (front << shift) != *this;
        return std::ldexp(static_cast<double>(front.low_ | static_cast<std::uint64_t>(is_more)),
                          shift);
    }

    // Rounded down; `value` is not below 0.
    [[nodiscard]] static PlainWide from_double(double value) {
        const auto high = static_cast<std::uint64_t>(value * 0x1p-64);
        const double rest = value - static_cast<double>(high) * 0x1p64;
        return of(high, static_cast<std::uint64_t>(rest));
    }

  private:
    static constexpr PlainWide of(std::uint64_t high, std::uint64_t low) {
        PlainWide wide = low;
        wide.high_ = high;
        return wide;
    }

    static constexpr PlainWide product_of(std::uint64_t a, std::uint64_t b) {
        constexpr std::uint64_t half = 0xffffffff;
        const std::uint64_t low = (a & half) * (b & half);
        const std::uint64_t one = (a >> 32) * (b & half) + (low >> 32);
        const std::uint64_t other = (a & half) * (b >> 32) + (one & half);
        return of((a >> 32) * (b >> 32) + (one >> 32) + (other >> 32), other << 32 | (low & half));
    }

    std::uint64_t low_;
    std::uint64_t high_ = 0;
};

#if HFIT_HAS_WIDE
__extension__ typedef unsigned __int128 Wide;
#else
using Wide = PlainWide;
#endif

inline double wide_to_double(Wide wide) {
#if HFIT_HAS_WIDE
    return static_cast<double>(wide);
#else
    return wide.to_double();
#endif
}

// Rounded down; `value` is not below 0.
inline Wide wide_from_double(double value) {
#if HFIT_HAS_WIDE
    return static_cast<Wide>(value);
#else
    return PlainWide::from_double(value);
#endif
}

// a * b / 2^shift, rounded down, where that has 64 bits; `shift` is 1 to 63.
inline std::int64_t shifted_product(std::int64_t a, std::int64_t b, int shift) {
#if HFIT_HAS_WIDE
    __extension__ typedef __int128 SignedWide;
    return static_cast<std::int64_t>((SignedWide{a} * b) >> shift);
#else
    // As unsigned numbers each is 2^64 too large where it is below 0.
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    const Wide beyond = Wide{(a < 0 ? y : 0) + (b < 0 ? x : 0)} << 64;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>((Wide{x} * y - beyond) >> shift));
#endif
}

// Takes `amount` off a number; true if it was less, and is 2^bits too large now.
template <std::unsigned_integral Number> bool subtract(Number &from, Number amount) {
#if HFIT_HAS_BUILTINS
    return __builtin_sub_overflow(from, amount, &from);
#else
    const bool was_less = from < amount;
    from -= amount;
    return was_less;
#endif
}

// Multiplies a number; true if the product has more than 64 bits, of which the lower are left.
inline bool multiply(std::uint64_t &number, std::uint64_t by) {
    const Wide product = Wide{number} * by;
    number = static_cast<std::uint64_t>(product);
    return static_cast<std::uint64_t>(product >> 64) != 0;
}

inline void prefetch_to_write([[maybe_unused]] const void *address) {
#if HFIT_HAS_BUILTINS
    __builtin_prefetch(address, 1);
#endif
}

// Says that what `condition` denies never is.
inline void assume([[maybe_unused]] bool condition) {
#if HFIT_HAS_BUILTINS
    if (!condition) {
        __builtin_unreachable();
    }
#endif
}

// The bytes in the other order.
template <std::unsigned_integral Number> Number swap_bytes(Number number) {
#if HFIT_HAS_BUILTINS
    if constexpr (sizeof number == 8) {
        return __builtin_bswap64(number);
    } else if constexpr (sizeof number == 4) {
        return __builtin_bswap32(number);
    }
#endif
    Number swapped = 0;
    for (unsigned i = 0; i < sizeof number; ++i) {
        swapped = static_cast<Number>(swapped << 8 | (number >> 8 * i & 0xff));
    }
    return swapped;
}

} // namespace heapfit
