// SPDX-License-Identifier: Apache-2.0
// Objects drawn from recorded ones: blocks of consecutive ones, with replacement, phase by phase.
//
//     recorded   | a a a a a a a a a a | b b b b b b b b b b |      phases a and b
//     drawn      | a3..a6 a1..a4 a5..  | b2..b5 b6..b9 b2..  |      blocks of them, seam to seam
//
// A block is drawn from about the same part of its phase. Of n places there, it is one of the
// sqrt(n) where, when it was recorded, most nearly as many bytes were live as are at the seam.
// Objects that are live at the seam take over the lives of those that were live in the recording
// where the block begins, size by size and the oldest first, so that the block finds what it is
// going to free. Those left over live on as they would have.
//
// Times are counted in objects: what ends at 7 is freed after the object 6 is born and before 7.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

// Recorded objects in the order of their births.
struct RecordedLives {
    std::span<const Bytes> sizes;
    std::span<const std::uint64_t> ends; // above the object's own number, at most 2^62
    std::span<const Bytes> live;         // before each object is born
};

// Drawn objects in the order of their births, as many as were recorded.
struct DrawnLives {
    std::vector<std::uint64_t> source;   // the recorded object that each is
    std::vector<std::uint64_t> ends;     // as those of the recorded ones
    std::vector<std::uint64_t> freed_as; // the recorded object whose end it has
};

class BlockDraw {
  public:
    // `phases` are the first objects of each, `block` is in objects. Throws Error unless there are
    // less than 2^32 objects and the phases ascend from 0, each as long as a block or longer.
    BlockDraw(std::uint64_t objects, std::span<const std::uint64_t> phases, std::uint64_t block);

    // Of each seam in order: of how many places one is to be picked, 1 at least.
    [[nodiscard]] std::vector<std::uint64_t> choices() const;

    // What is drawn where `picks` tells for each seam the place, below the seam's choices and from
    // the one nearest in live bytes; of equally near ones the earlier is nearer. Throws Error if
    // arrays have other lengths than there are objects or seams, or values are out of their range.
    // Sums of bytes wrap beyond 2^63. Cost: for each seam its places, a 64th of the objects before
    // the block, and n log n of the live ones.
    [[nodiscard]] DrawnLives draw(const RecordedLives &recorded,
                                  std::span<const std::uint64_t> picks) const;

  private:
    class Drawing;

    struct Seam {
        std::uint64_t at;     // the first object drawn here
        std::uint64_t length; // objects drawn here
        std::uint64_t lowest; // place where a block may begin; others follow in steps
        std::uint64_t places;
    };

    void add_phase(std::uint64_t first, std::uint64_t end);
    [[nodiscard]] static std::uint64_t choices_of(const Seam &seam);

    std::uint64_t objects_;
    std::uint64_t block_;
    std::uint64_t step_; // from place to place
    std::vector<Seam> seams_;
};

} // namespace heapfit
