// SPDX-License-Identifier: Apache-2.0
// A placement as a picture: events across, addresses up, a colour for whatever lies there.
//
//   height  | . . # # .      A cell has the colour of the lifetime that covers its middle, so that
//           | . # # # .      what is thinner than a cell is seen as often as its share of the area
//   0       | # # # . .      says; 0 is where nothing lies.
//             0  event  events
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/packing/lifetimes.hpp"

namespace heapfit {

struct PictureSize {
    std::uint64_t columns;
    std::uint64_t rows;
    std::uint64_t events; // across all columns
    Bytes height;         // of all rows
};

// One byte a cell, row by row from the lowest address. The first so many lifetimes as there are
// offsets are painted; `colours` has one for each of them, above 0. Linear in lifetimes and painted
// cells. Throws Error if a size is 0, or there are more offsets than lifetimes or colours.
[[nodiscard]] std::vector<std::uint8_t> paint(std::span<const Lifetime> lifetimes,
                                              std::span<const Bytes> offsets,
                                              std::span<const std::uint8_t> colours,
                                              const PictureSize &size);

} // namespace heapfit
