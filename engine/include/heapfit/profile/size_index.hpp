// SPDX-License-Identifier: Apache-2.0
// Dense numbers for request sizes: 0, 1, 2, ... in order of first appearance.
//
// Memory is bounded. Once `exact_limit` different sizes were seen, a new size is counted as the
// next of 16 sizes an octave, which adds fewer than a thousand more; `is_coarse` then tells that it
// happened.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

class SizeIndex {
  public:
    static constexpr std::size_t exact_limit = std::size_t{1} << 20;
    static constexpr std::uint32_t none = UINT32_MAX;

    SizeIndex();

    // The number of `size`, made up if it is new.
    std::uint32_t add(Bytes size) {
        const std::uint32_t known = find(size);
        return known != none ? known : add_new(size);
    }

    // The number of `size`, or `none`. Sizes below 4 KiB cost one load.
    [[nodiscard]] std::uint32_t find(Bytes size) const {
        return size < small_.size() ? small_[size] : find_large(size);
    }

    // The sizes by number.
    [[nodiscard]] const std::vector<Bytes> &sizes() const { return sizes_; }

    [[nodiscard]] bool is_coarse() const { return is_coarse_; }

  private:
    [[nodiscard]] std::uint32_t find_large(Bytes size) const;
    [[nodiscard]] std::size_t slot_of(Bytes size) const;
    std::uint32_t add_new(Bytes size);
    std::uint32_t append(Bytes size);
    void grow();

    std::array<std::uint32_t, 4096> small_;
    std::vector<std::uint32_t> slots_; // open addressing, at most half full; a power of two long
    std::vector<Bytes> sizes_;
    bool is_coarse_ = false;
};

} // namespace heapfit
