// SPDX-License-Identifier: Apache-2.0
// What pools of given counts refuse, without a heap: which pools a request tries is told by
// class_pools' own rule, and whether one has a block left is a matter of counting.
//
//   +--------+------------+------+  a step, 8 bytes. slot: the object's, used again once it is
//   | slot   | size class | kind |  freed; size class: sizes that all pools treat alike
//   +--------+------------+------+
//
// Steps are replayed several times as fast as events on the allocator; a test compares the
// refusals of both.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/budget/pool_peaks.hpp"
#include "heapfit/event.hpp"

namespace heapfit {

// By stretch and by the pool that is a request's first choice: entry stretch * pools + pool.
struct PoolRefusals {
    std::vector<std::uint64_t> requests; // allocations, and resizes of what was not refused before
    std::vector<std::uint64_t> refused;  // of these
};

// A trace made ready for pools of given sizes and any counts. A full pool's requests go to the next
// one of class_pools' rule, or are refused; there is no shared heap, so what is above the largest
// pool is refused and counts as the largest pool's. Immutable, so threads may share it.
class PoolReplay {
  public:
    // The trace is cut into `stretches`, equal in events. Alignments above the heap's own are not
    // looked at: where pools begin depends on their counts. Throws Error on a bad trace and on
    // pools that cannot be laid out, or of which there are none.
    PoolReplay(std::span<const Event> events, std::span<const PoolShape> pools,
               std::uint32_t alignment, std::uint32_t stretches);

    // One pass with so many blocks, in the order of the pools given. Without a fall-back a full
    // pool refuses. Throws Error unless there is one count for each pool.
    [[nodiscard]] PoolRefusals run(std::span<const std::uint32_t> counts,
                                   bool falls_back = true) const;

  private:
    enum class Kind : std::uint8_t { alloc, resize, free };

    struct Step {
        std::uint32_t slot;
        std::uint16_t size_class;
        Kind kind;
    };

    // Sizes that try the same pools in the same order.
    struct SizeClass {
        std::vector<std::uint32_t> pools; // none: the sizes are above the largest pool's
        std::uint32_t first;              // of these, else the largest pool: where they count
        std::vector<bool> fits;           // by pool: whether its blocks could hold them

        bool operator==(const SizeClass &) const = default;
    };

    struct Builder;
    struct Pass;

    std::size_t pools_;
    std::size_t slots_ = 0;
    std::vector<SizeClass> classes_;
    std::vector<Step> steps_;
    std::vector<std::size_t> ends_; // of each stretch, in steps
};

} // namespace heapfit
