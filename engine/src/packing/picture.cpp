// SPDX-License-Identifier: Apache-2.0
#include "heapfit/packing/picture.hpp"

#include <algorithm>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// The cells of a row or column.
struct Cells {
    std::uint64_t first;
    std::uint64_t end; // not included
};

// How many cells have their middle below `at`, of `count` across `length`.
std::uint64_t middles_below(std::uint64_t at, std::uint64_t count, std::uint64_t length) {
    const std::uint64_t twice = 2 * count * std::min(at, length);
    return (twice + length - 1) / (2 * length); // the middle of cell i is (2 i + 1) / 2 cells
}

Cells covered(std::uint64_t from, std::uint64_t until, std::uint64_t count, std::uint64_t length) {
    return {middles_below(from, count, length), middles_below(until, count, length)};
}

void require(bool is_so, const char *what) {
    if (!is_so) {
        throw Error(what);
    }
}

} // namespace

std::vector<std::uint8_t> paint(std::span<const Lifetime> lifetimes, std::span<const Bytes> offsets,
                                std::span<const std::uint8_t> colours, const PictureSize &size) {
    require(size.columns > 0 && size.rows > 0 && size.events > 0 && size.height > 0,
            "picture: one side is 0");
    require(offsets.size() <= lifetimes.size() && offsets.size() <= colours.size(),
            "picture: more offsets than lifetimes or colours");
    std::vector<std::uint8_t> cells(size.columns * size.rows);
    for (std::size_t i = 0; i < offsets.size(); i++) {
        const Lifetime &one = lifetimes[i];
        const Cells across = covered(one.from, one.until, size.columns, size.events);
        const Cells up = covered(offsets[i], offsets[i] + one.size, size.rows, size.height);
        for (std::uint64_t row = up.first; row < up.end; row++) {
            std::uint8_t *const line = &cells[row * size.columns];
            std::fill(line + across.first, line + across.end, colours[i]);
        }
    }
    return cells;
}

} // namespace heapfit
