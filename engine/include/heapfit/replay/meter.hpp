// SPDX-License-Identifier: Apache-2.0
// What is measured of a heap: metadata accesses, and fragmentation by walking its blocks.
#pragma once

#include <cstdint>

#include "heapfit/replay/host_heap.hpp"
#include "heapfit/replay/metered_config.h"

namespace heapfit {

// While one lives, what this thread does to heaps is not counted: measuring must not change the
// measure.
class UncountedAccesses {
  public:
    UncountedAccesses() : before_(heapfit_counts) {}
    ~UncountedAccesses() { heapfit_counts = before_; }
    UncountedAccesses(const UncountedAccesses &) = delete;
    UncountedAccesses &operator=(const UncountedAccesses &) = delete;

  private:
    heapfit_access_counts before_;
};

// The blocks of a heap at one moment, in bytes the caller may use.
struct BlockSums {
    Bytes used = 0;
    Bytes free = 0;
    Bytes largest_free = 0;
    Bytes largest_hole = 0;   // the largest free block within the footprint
    std::uint64_t blocks = 0; // walked

    // Free bytes that one large request cannot use, since they are not together.
    [[nodiscard]] Bytes external_fragmentation() const { return free - largest_free; }
};

// Walks the heap; linear in the number of its blocks. Counts no accesses.
[[nodiscard]] BlockSums sum_blocks(const HostHeap &heap);

} // namespace heapfit
