// SPDX-License-Identifier: Apache-2.0
// Heaps in memory that is kept; see host_heap.hpp.
#include "heapfit/replay/host_heap.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "heapfit/error.hpp"
#include "heapfit/replay/meter.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t region_limit = std::uint64_t{1} << 32; // a region is smaller (contract.h)
constexpr std::uint64_t page_size = 4096;                      // at least so aligned is a mapping
constexpr std::size_t free_chunk_end = 32;                     // bytes: its words, the sentinel

// What a base is aligned to for which so much is asked.
std::uint64_t given_alignment(std::uint64_t asked) {
    if ((asked & (asked - 1)) != 0 || asked > region_limit) {
        throw Error("region: base alignment " + std::to_string(asked) +
                    " is not 0 or a power of two up to 2^32");
    }
    return std::max(asked, host_base_alignment);
}

} // namespace

HostHeap::HostHeap(const Plan &plan, Memory mapping, const RegionSpec &region, hfit_heap *heap)
    : plan_(plan), mapping_(std::move(mapping)), region_(region), heap_(heap) {}

std::optional<HostHeap> HostHeap::try_init(const Plan &plan, const RegionSpec &region) {
    const std::uint64_t alignment = given_alignment(region.base_alignment);
    if (region.size == 0 || region.size >= region_limit) {
        return std::nullopt;
    }
    const RegionSpec aligned = {region.size, alignment};
    Memory mapping = memory_for(aligned);
    hfit_heap *const heap =
        plan.operations().init(base_in(mapping, aligned), region.size, plan.raw());
    if (heap == nullptr) {
        return std::nullopt;
    }
    return HostHeap(plan, std::move(mapping), aligned, heap);
}

Memory HostHeap::memory_for(const RegionSpec &region) {
    return memory_of(region.size + (region.base_alignment > page_size ? region.base_alignment : 0));
}

std::byte *HostHeap::base_in(const Memory &mapping, const RegionSpec &region) {
    const auto start = reinterpret_cast<std::uintptr_t>(mapping.get());
    return mapping.get() + ((0 - start) & (region.base_alignment - 1));
}

std::optional<HeapImage> HostHeap::image() const {
    const std::optional<RoomyHeap> last = roomy();
    if (!last || last->allocator->end_at == nullptr) {
        return std::nullopt;
    }
    const std::size_t left_out = last->room().value_or(hfit_reach{}).last;
    if (left_out < 2 * free_chunk_end) {
        return std::nullopt;
    }
    const std::size_t front = region_.size - left_out + free_chunk_end;
    const std::size_t back = std::min<std::size_t>(free_chunk_end, region_.size - front);
    HeapImage image{region_, memory_of(front + back), front, front + back};
    const auto *const bytes = reinterpret_cast<const std::byte *>(heap_);
    std::copy_n(bytes, front, image.bytes.get());
    std::copy_n(bytes + region_.size - back, back, image.bytes.get() + front);
    return image;
}

std::optional<HostHeap> HostHeap::shortened(const Plan &plan, const HeapImage &image,
                                            std::uint64_t size) {
    Memory mapping = memory_for(image.region);
    std::byte *const base = base_in(mapping, image.region);
    const std::size_t back = image.size - image.front;
    std::copy_n(image.bytes.get(), image.front, base);
    std::copy_n(image.bytes.get() + image.front, back, base + image.region.size - back);
    HostHeap heap(plan, std::move(mapping), image.region, reinterpret_cast<hfit_heap *>(base));
    const std::optional<RoomyHeap> last = heap.roomy();
    if (!last || size < last->offset ||
        !last->allocator->end_at(last->heap, last->plan, size - last->offset)) {
        return std::nullopt;
    }
    heap.region_.size = size;
    return heap;
}

std::optional<hfit_reach> HostHeap::reach() const {
    const std::optional<RoomyHeap> last = roomy();
    if (!last || last->allocator->reach == nullptr) {
        return std::nullopt;
    }
    const UncountedAccesses uncounted;
    hfit_reach reach{};
    const bool tells = last->allocator->reach(last->heap, last->plan, &reach);
    return tells ? std::optional(reach) : std::nullopt;
}

std::optional<RoomyHeap> HostHeap::roomy() const {
    const Plan &shared = plan_.at_region_end();
    if (&shared == &plan_) {
        return RoomyHeap{&plan_.allocator(), heap_, plan_.raw(), 0};
    }
    const std::size_t offset = plan_.smallest_region();
    if (region_.size < offset + shared.smallest_region()) {
        return std::nullopt;
    }
    std::byte *const address = reinterpret_cast<std::byte *>(heap_) + offset;
    return RoomyHeap{&shared.allocator(), reinterpret_cast<hfit_heap *>(address), shared.raw(),
                     offset};
}

std::optional<hfit_reach> RoomyHeap::room() const {
    if (allocator->reach == nullptr) {
        return std::nullopt;
    }
    const UncountedAccesses uncounted;
    hfit_reach reach{};
    allocator->reach(heap, plan, &reach);
    return reach;
}

HostHeap HostHeap::init(const Plan &plan, const RegionSpec &region) {
    std::optional<HostHeap> made = try_init(plan, region);
    if (!made) {
        throw Error("region: " + std::to_string(region.size) + " bytes do not make a heap of " +
                    plan.allocator().name + " (at least " + std::to_string(plan.smallest_region()) +
                    " bytes and less than 4 GiB do)");
    }
    return std::move(*made);
}

} // namespace heapfit
