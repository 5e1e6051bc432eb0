// SPDX-License-Identifier: Apache-2.0
// A program on a heap that never asks for more than its limits allow, and sees where its blocks
// lie. What it does is recorded as events.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/adversary/adversary.hpp"
#include "heapfit/replay/host_heap.hpp"

namespace heapfit {

struct PlacedBlock {
    std::uint64_t begin; // offset in the region
    std::uint64_t end;   // of the bytes the caller may use
    ObjectId object;
    std::uint32_t size_number; // in the limits
};

class LimitedProgram {
  public:
    LimitedProgram(const Plan &plan, const RegionSpec &region, const Limits &limits);

    // Whether one more block of this size keeps to the limits.
    [[nodiscard]] bool may_ask(std::uint32_t size_number) const {
        return live_of_[size_number] < limits_.peaks[size_number] &&
               limits_.sizes[size_number] <= unused();
    }

    // Asks for a block within the limits. False if that is refused: the program has ended.
    bool ask(std::uint32_t size_number);

    void release(ObjectId object);

    // Bytes that may be asked for beside what is live.
    [[nodiscard]] Bytes unused() const { return limits_.live - live_; }

    // The live blocks by ascending address.
    [[nodiscard]] std::vector<PlacedBlock> live_blocks() const;

    [[nodiscard]] bool is_refused() const { return is_refused_; }
    [[nodiscard]] std::uint64_t footprint() const { return heap_.footprint(); }
    [[nodiscard]] std::span<const Event> events() const { return events_; }
    [[nodiscard]] const Limits &limits() const { return limits_; }

  private:
    HostHeap heap_;
    const Limits &limits_;
    std::vector<std::uint64_t> live_of_; // blocks, by number of the size
    Bytes live_ = 0;
    std::vector<PlacedBlock> blocks_; // by object; `end` is 0 once released
    std::vector<Event> events_;
    bool is_refused_ = false;
};

} // namespace heapfit
