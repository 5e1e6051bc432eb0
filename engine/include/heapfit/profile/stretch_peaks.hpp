// SPDX-License-Identifier: Apache-2.0
// Where in a long trace memory is asked for most: the highest live bytes of each stretch of equally
// many events, and for each octave of sizes the stretch in which its blocks hold most bytes.
//
// One pass, in memory that follows the live objects, and 8 bytes a stretch.
#pragma once

#include <array>
#include <bit>
#include <span>
#include <vector>

#include "heapfit/trace/follow.hpp"

namespace heapfit {

// Sizes from 2^b to 2^(b+1) - 1 are of octave b + 1; size 0 is of octave 0.
inline constexpr std::size_t octaves = std::bit_width(largest_request) + 1;

class StretchPeaks {
  public:
    // `width`: events of a stretch, above 0, else Error.
    explicit StretchPeaks(std::uint64_t width);

    // Throws Error if an event breaks the rules of a trace.
    void feed(std::span<const Event> events);

    // Of each stretch begun so far, in order.
    [[nodiscard]] const std::vector<Bytes> &live_highest() const { return highest_; }

    // For each octave that was asked for, in their order: the stretch in which its live bytes were
    // most, the first of several.
    [[nodiscard]] std::vector<std::uint64_t> octave_peaks() const;

  private:
    struct Octave {
        Bytes live = 0;
        Bytes most = 0;
        std::uint64_t stretch = 0; // of that
        bool is_asked_for = false;
    };
    struct Visitor;

    std::uint64_t width_;
    std::uint64_t events_ = 0;
    Bytes live_ = 0;
    std::vector<Bytes> highest_;
    std::array<Octave, octaves> octaves_{};
    ObjectTable<Bytes> sizes_;
};

} // namespace heapfit
