// SPDX-License-Identifier: Apache-2.0
// Counts live blocks pool by pool. Where pools begin decides whether their blocks are aligned, and
// that depends on the counts, so traces with alignments above the heap's own are counted again
// until the counts hold.
#include "heapfit/pool_peaks.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"
#include "heapfit/follow.hpp"
#include "hfit/pools.h"

namespace heapfit {

namespace {

constexpr std::uint32_t shared_heap = UINT32_MAX;

constexpr Bytes round_up(Bytes size, Bytes alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

// The pools by rank, ascending in size, and the rule's choice among them.
class Chooser {
  public:
    Chooser(std::span<const hfit_pool> pools, std::uint32_t alignment, PoolRule rule)
        : pools_(pools), alignment_(alignment), rule_(rule) {}

    // The rank of the pool that serves the request, or `shared_heap`.
    [[nodiscard]] std::uint32_t choose(Bytes size, Bytes alignment) const {
        const Bytes asked = std::max<Bytes>(size, 1);
        return rule_ == PoolRule::budgeted ? budgeted(asked, alignment)
                                           : class_pool(asked, alignment);
    }

  private:
    [[nodiscard]] std::uint32_t budgeted(Bytes asked, Bytes alignment) const {
        const Bytes block = round_up(asked, alignment_);
        const auto found = std::ranges::lower_bound(
            pools_, block, {}, [this](const hfit_pool &pool) { return block_size(pool); });
        return found != pools_.end() && block_size(*found) == block && is_aligned(*found, alignment)
                   ? rank_of(*found)
                   : shared_heap;
    }

    [[nodiscard]] std::uint32_t class_pool(Bytes asked, Bytes alignment) const {
        std::uint32_t larger_special = shared_heap;
        const auto fitting = std::ranges::lower_bound(pools_, asked, {}, &hfit_pool::size);
        for (auto pool = fitting; pool != pools_.end(); ++pool) {
            if (!is_aligned(*pool, alignment)) {
                continue;
            }
            if (pool->is_exact == 0 || pool->size == asked) {
                return rank_of(*pool);
            }
            larger_special = std::min(larger_special, rank_of(*pool));
        }
        return larger_special;
    }

    [[nodiscard]] Bytes block_size(const hfit_pool &pool) const {
        return round_up(pool.size, alignment_);
    }

    [[nodiscard]] bool is_aligned(const hfit_pool &pool, Bytes alignment) const {
        return ((pool.base | block_size(pool)) & (alignment - 1)) == 0;
    }

    [[nodiscard]] std::uint32_t rank_of(const hfit_pool &pool) const {
        return static_cast<std::uint32_t>(&pool - pools_.data());
    }

    std::span<const hfit_pool> pools_;
    std::uint32_t alignment_;
    PoolRule rule_;
};

// Counts the blocks of each pool on unlimited pools.
struct Count {
    struct Object {
        Bytes size;
        std::uint32_t rank;
    };

    const Chooser &chooser;
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
        if (object.rank == shared_heap) {
            shared_live -= object.size;
        } else {
            live[object.rank]--;
        }
        return true;
    }

  private:
    bool enter(Bytes size, Bytes alignment, Object &object) {
        object = {size, chooser.choose(size, alignment)};
        if (object.rank == shared_heap) {
            shared_requests++;
            shared_live += size;
            shared_peak = std::max(shared_peak, shared_live);
        } else {
            live[object.rank]++;
            peaks[object.rank] = std::max(peaks[object.rank], live[object.rank]);
        }
        return true;
    }
};

void lay_out(std::vector<hfit_pool> &pools, std::uint32_t alignment) {
    const auto count = static_cast<std::uint32_t>(pools.size());
    if (hfit_pools_lay_out(pools.data(), count, alignment) == 0) {
        throw Error("pools: " + std::to_string(count) + " pools cannot be laid out at alignment " +
                    std::to_string(alignment) +
                    " (sizes must differ, be above 0, and the pools end below 2 GiB)");
    }
}

// The pools in ascending order of size, without blocks yet.
std::vector<hfit_pool> sort_pools(std::span<const PoolShape> shapes) {
    std::vector<hfit_pool> pools;
    for (const PoolShape &shape : shapes) {
        const auto size = static_cast<std::uint32_t>(std::min<Bytes>(shape.size, UINT32_MAX));
        pools.push_back({size, 0, shape.is_exact ? 1u : 0u, 0, 0});
    }
    std::ranges::sort(pools, {}, &hfit_pool::size);
    return pools;
}

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
                     std::uint32_t alignment, PoolRule rule) {
    std::vector<hfit_pool> pools = sort_pools(shapes);
    PoolPeaks peaks{std::vector<std::uint64_t>(shapes.size()), 0, 0};
    for (bool is_settled = false; !is_settled;) {
        lay_out(pools, alignment);
        const Chooser chooser(pools, alignment, rule);
        const std::vector<std::uint32_t> none(pools.size());
        Count count{chooser, alignment, none, none};
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
