// SPDX-License-Identifier: Apache-2.0
// Unsigned integers out of bytes of either order. The caller has checked that the bytes are there.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "heapfit/compiler.hpp"

namespace heapfit {

inline std::uint16_t load16(const std::uint8_t *at, std::endian order) {
    std::uint16_t value;
    std::memcpy(&value, at, sizeof value);
    return order == std::endian::native ? value : swap_bytes(value);
}

inline std::uint32_t load32(const std::uint8_t *at, std::endian order) {
    std::uint32_t value;
    std::memcpy(&value, at, sizeof value);
    return order == std::endian::native ? value : swap_bytes(value);
}

inline std::uint64_t load64(const std::uint8_t *at, std::endian order) {
    std::uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return order == std::endian::native ? value : swap_bytes(value);
}

} // namespace heapfit
