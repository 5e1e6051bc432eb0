// SPDX-License-Identifier: Apache-2.0
// Lifetimes placed as they begin, those of common sizes in zones of their own.
//
//   | zone of size 0 | zone of size 1 | ... | all others, and what a full zone has no room for |
//   | slot | slot |..|                      | block | hole | block | ...   top                  |
//
// Lifetimes of one size fill a zone without any gap, however they overlap. For the others it is
// known when each ends: a hole between blocks that end at about the same time is best.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/packing/lifetimes.hpp"

namespace heapfit {

// What makes a hole the better the less it is: logarithms of bytes left over and of the time
// between its end and a neighbour's, and the place, each times its weight.
struct HoleWeights {
    double left = 1;
    double ends = 0;
    double place = 0;
    double top = 1e6; // of the free bytes above all blocks
};

struct ZonePlan {
    std::vector<std::uint64_t> slots; // of each zone
    HoleWeights weights;
    Bytes ceiling = 0; // the top is not used above it while a hole will do
};

class ZonedPlacing {
  public:
    // `lifetimes` ascend by `from` and outlive this. At most 64 sizes have zones, those of most
    // bytes in all.
    explicit ZonedPlacing(std::span<const Lifetime> lifetimes);

    // The sizes of the zones, descending.
    [[nodiscard]] std::span<const Bytes> sizes() const { return sizes_; }

    // As many slots a zone as keep the peak where it is: in descending order of size, each as many
    // as can be (Lee and Yi 2008, figure 4).
    [[nodiscard]] std::vector<std::uint64_t> greedy_slots(Bytes peak) const;

    // Where each lifetime lies; ends early, with some unplaced, once one reaches above `most`.
    // Returns the height. Adds the steps taken to `steps`.
    Bytes place(const ZonePlan &plan, Bytes most, std::vector<Bytes> &offsets,
                std::uint64_t &steps) const;

  private:
    static constexpr std::uint8_t no_zone = 0xff;

    std::span<const Lifetime> lifetimes_;
    std::vector<std::uint32_t> by_end_;
    std::vector<Bytes> sizes_;
    std::vector<std::uint8_t> zones_; // of each lifetime
};

} // namespace heapfit
