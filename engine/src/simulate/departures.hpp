// SPDX-License-Identifier: Apache-2.0
// Departures to come, the earliest first; of equal times those scheduled first. A heap of four
// children a node: half as deep as one of two, and a node's children share a cache line or two.
//
//   0 | 1 2 3 4 | 5 6 7 8 | 9 10 11 12 | ...      the children of i are 4 i + 1 to 4 i + 4
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapfit {

struct Departure {
    std::uint64_t time_ns;
    std::uint32_t order; // of scheduling, modulo 2^32
    std::uint32_t slot;  // what leaves

    // Orders wrap around: of two that wait together none is 2^31 ahead.
    [[nodiscard]] bool is_before(const Departure &other) const {
        return time_ns != other.time_ns ? time_ns < other.time_ns
                                        : other.order - order - 1 < 1U << 31;
    }
};

class Departures {
  public:
    [[nodiscard]] bool is_empty() const { return heap_.empty(); }
    [[nodiscard]] std::size_t count() const { return heap_.size(); }
    [[nodiscard]] const Departure &first() const { return heap_.front(); }

    void schedule(std::uint64_t time_ns, std::uint32_t slot) {
        const Departure own{time_ns, scheduled_++, slot};
        std::size_t i = heap_.size();
        heap_.push_back(own);
        while (i > 0 && own.is_before(heap_[(i - 1) / 4])) {
            heap_[i] = heap_[(i - 1) / 4];
            i = (i - 1) / 4;
        }
        heap_[i] = own;
    }

    // The hole at the root sinks to the last level, and the last departure rises from there: it
    // belongs near the bottom, so that it is seldom compared on the way down.
    void take_first() {
        const Departure last = heap_.back();
        heap_.pop_back();
        if (heap_.empty()) {
            return;
        }
        std::size_t hole = sink_hole();
        while (hole > 0 && last.is_before(heap_[(hole - 1) / 4])) {
            heap_[hole] = heap_[(hole - 1) / 4];
            hole = (hole - 1) / 4;
        }
        heap_[hole] = last;
    }

  private:
    std::size_t sink_hole() {
        std::size_t hole = 0;
        for (std::size_t child = 1; child < heap_.size(); child = 4 * hole + 1) {
            const std::size_t end = std::min(child + 4, heap_.size());
            std::size_t least = child;
            for (std::size_t other = child + 1; other < end; ++other) {
                least = heap_[other].is_before(heap_[least]) ? other : least;
            }
            heap_[hole] = heap_[least];
            hole = least;
        }
        return hole;
    }

    std::vector<Departure> heap_;
    std::uint32_t scheduled_ = 0;
};

} // namespace heapfit
