// SPDX-License-Identifier: Apache-2.0
// The slot buffer of Cebeci 2019, section 1.1: a workload of many small and few large requests.
//
//   slots   | . | 57 | . | 8 | 213 | . | ...      a slot is drawn uniformly;
//                      ^                          an empty one is filled with a request whose size
//                      drawn                      the size law draws, an occupied one is freed
//
// About half of the slots are occupied once the walk has lasted. All draws are integer arithmetic
// on a Philox: the same seed walks alike on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "heapfit/event.hpp"
#include "heapfit/random.hpp"

namespace heapfit {

// Sizes of most / e^r bytes, r uniform from 0 to ln(most / least), rounded down: log-uniform.
class SizeLaw {
  public:
    // Throws Error unless 1 <= least <= most <= 2^31.
    SizeLaw(Bytes least, Bytes most);

    // Takes one number of `random`.
    [[nodiscard]] Bytes draw(Philox &random) const;

  private:
    Bytes least_;
    Bytes most_;
    std::uint64_t log2_ratio_; // log2(most / least) * 2^48
};

struct SlotStep {
    std::uint32_t slot;
    bool was_occupied; // then what is in the slot is to be freed, else the slot is to be filled
};

class SlotWalk {
  public:
    // Throws Error unless there are 1 to 2^24 slots.
    explicit SlotWalk(std::uint64_t slots);

    // Draws a slot, by one number of `random`, and turns it over.
    [[nodiscard]] SlotStep next(Philox &random);

  private:
    std::vector<bool> is_occupied_;
};

} // namespace heapfit
