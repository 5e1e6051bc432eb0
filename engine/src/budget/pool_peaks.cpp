// SPDX-License-Identifier: Apache-2.0
// Counts live blocks pool by pool. Where pools begin decides whether their blocks are aligned, and
// that depends on the counts, so traces with alignments above the heap's own are counted again
// until the counts hold.
#include "heapfit/budget/pool_peaks.hpp"

#include <algorithm>

#include "budget/pool_layout.hpp"
#include "heapfit/budget/pool_choice.hpp"
#include "heapfit/trace/follow.hpp"
#include "hfit/pools.h"

namespace heapfit {

namespace {

// Counts the blocks of each pool on unlimited pools.
struct Count {
    struct Object {
        Bytes size;
        std::uint32_t pool;
    };

    const PoolChoice &choice;
    Bytes heap_alignment;
    std::vector<std::uint32_t> live;
    std::vector<std::uint32_t> peaks;
    std::uint64_t shared_requests = 0;
    Bytes shared_live = 0;
    Bytes shared_peak = 0;
    bool is_overaligned = false; // some request asked for more than the heap's alignment

    bool allocated(std::size_t, const Event &event, Object &object) {
        const Bytes alignment = std::max(heap_alignment, Bytes{1} << event.alignment_log2);
        is_overaligned |= alignment > heap_alignment;
        return enter(event.size, alignment, object);
    }

    bool resized(std::size_t i, const Event &event, Object &object) {
        return freed(i, event, object) && enter(event.size, heap_alignment, object);
    }

    bool freed(std::size_t, const Event &, const Object &object) {
        if (object.pool == HFIT_NO_POOL) {
            shared_live -= object.size;
        } else {
            live[object.pool]--;
        }
        return true;
    }

  private:
    bool enter(Bytes size, Bytes alignment, Object &object) {
        object = {size, choice.choose(size, alignment)};
        if (object.pool == HFIT_NO_POOL) {
            shared_requests++;
            shared_live += size;
            shared_peak = std::max(shared_peak, shared_live);
        } else {
            live[object.pool]++;
            peaks[object.pool] = std::max(peaks[object.pool], live[object.pool]);
        }
        return true;
    }
};

// Raises counts to what is needed where the pools lie now. True if they had been enough.
bool raise_counts(std::vector<hfit_pool> &pools, std::span<const std::uint32_t> peaks) {
    bool were_enough = true;
    for (std::size_t rank = 0; rank < pools.size(); rank++) {
        were_enough &= peaks[rank] <= pools[rank].count;
        pools[rank].count = std::max(pools[rank].count, peaks[rank]);
    }
    return were_enough;
}

} // namespace

PoolPeaks pool_peaks(std::span<const Event> events, std::span<const PoolShape> shapes,
                     std::uint32_t alignment, const hfit_allocator &allocator) {
    std::vector<hfit_pool> pools = sort_pools(shapes);
    PoolPeaks peaks{std::vector<std::uint64_t>(shapes.size()), 0, 0};
    for (bool is_settled = false; !is_settled;) {
        lay_out(pools, alignment);
        const PoolChoice choice(allocator, pools, alignment);
        const std::vector<std::uint32_t> none(pools.size());
        Count count{choice, alignment, none, none};
        ObjectTable<Count::Object> objects;
        follow_all(events, 0, objects, count);
        is_settled = raise_counts(pools, count.peaks) || !count.is_overaligned;
        peaks.shared_requests = count.shared_requests;
        peaks.shared_peak = count.shared_peak;
    }
    lay_out(pools, alignment);
    for (std::size_t i = 0; i < shapes.size(); i++) {
        peaks.counts[i] = std::ranges::find(pools, shapes[i].size, &hfit_pool::size)->count;
    }
    return peaks;
}

} // namespace heapfit
