// SPDX-License-Identifier: Apache-2.0
// Sums up blocks through the contract's walk.
#include "heapfit/replay/meter.hpp"

#include <algorithm>

namespace heapfit {

namespace {

void add_block(void *context, const void *, std::size_t usable_size, bool is_used) {
    BlockSums &sums = *static_cast<BlockSums *>(context);
    sums.blocks++;
    if (is_used) {
        sums.used += usable_size;
    } else {
        sums.free += usable_size;
        sums.largest_free = std::max<Bytes>(sums.largest_free, usable_size);
    }
}

} // namespace

BlockSums sum_blocks(const HostHeap &heap) {
    const UncountedAccesses uncounted;
    BlockSums sums;
    heap.plan().operations().walk(heap.get(), heap.plan().raw(), add_block, &sums);
    return sums;
}

} // namespace heapfit
