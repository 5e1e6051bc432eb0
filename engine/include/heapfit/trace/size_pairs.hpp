// SPDX-License-Identifier: Apache-2.0
// Blocks of a log that tells sizes and no addresses. A free then means a block of its size; which
// of several equal ones is not told, so the oldest or the newest is taken throughout.
#pragma once

#include <cstdint>
#include <deque>
#include <map>

namespace heapfit {

enum class Equal { oldest, newest };

class SizePairs {
  public:
    explicit SizePairs(Equal freed) : freed_(freed) {}

    // A block of `size` bytes is allocated. Returns a number that stands for its address.
    std::uint64_t allocate(std::uint64_t size);

    // A block of `size` bytes is freed. Returns what stood for its address, or, where no such block
    // is live, what stands for none.
    std::uint64_t release(std::uint64_t size);

  private:
    Equal freed_;
    std::uint64_t last_ = 0;
    std::map<std::uint64_t, std::deque<std::uint64_t>> live_; // by size, in order of allocation
};

} // namespace heapfit
