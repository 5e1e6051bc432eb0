// SPDX-License-Identifier: Apache-2.0
// Sums up blocks through the contract's walk.
#include "heapfit/replay/meter.hpp"

#include <algorithm>
#include <cstddef>

namespace heapfit {

namespace {

struct Walk {
    BlockSums sums;
    const std::byte *reached; // the footprint's end
};

void add_block(void *context, const void *block, std::size_t usable_size, bool is_used) {
    Walk &walk = *static_cast<Walk *>(context);
    BlockSums &sums = walk.sums;
    sums.blocks++;
    if (is_used) {
        sums.used += usable_size;
    } else {
        sums.free += usable_size;
        sums.largest_free = std::max<Bytes>(sums.largest_free, usable_size);
        if (static_cast<const std::byte *>(block) + usable_size <= walk.reached) {
            sums.largest_hole = std::max<Bytes>(sums.largest_hole, usable_size);
        }
    }
}

} // namespace

BlockSums sum_blocks(const HostHeap &heap) {
    const UncountedAccesses uncounted;
    Walk walk{{}, reinterpret_cast<const std::byte *>(heap.get()) + heap.footprint()};
    heap.plan().operations().walk(heap.get(), heap.plan().raw(), add_block, &walk);
    return walk.sums;
}

} // namespace heapfit
