// SPDX-License-Identifier: Apache-2.0
// A heap of core in host memory: owns its region and its plan.
//
// The region is reserved, not touched: an untouched gigabyte costs address space only. What it
// holds before `init` is any bytes, those of an earlier heap among them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "heapfit/replay/kept_memory.hpp"
#include "heapfit/replay/plan.hpp"

namespace heapfit {

// No region begins on the host at an address aligned to less. Placements are offsets, which do not
// depend on what the base is aligned to beyond what a plan and a trace ask for.
inline constexpr std::uint64_t host_base_alignment = 16;

struct RegionSpec {
    std::uint64_t size;               // bytes
    std::uint64_t base_alignment = 0; // asked for of the first byte: 0 or a power of two. The
                                      // host's is given where that is more.
};

// The bytes of a heap whose region ends in a free chunk, which is left out but for both its ends.
struct HeapImage {
    RegionSpec region;
    Memory bytes;
    std::size_t front; // of them lie where the region begins, the others where it ends
    std::size_t size;
};

// A heap of core to whose choices a region's room may matter (hfit/descriptor.h). The pointers are
// its owner's.
struct RoomyHeap {
    const hfit_allocator *allocator;
    hfit_heap *heap;
    const hfit_plan *plan;
    std::size_t offset; // bytes from the region's start; blocks before it are of pools

    // Room for chunks, and what of it is taken; nothing where the allocator does not tell.
    [[nodiscard]] std::optional<hfit_reach> room() const;
};

class HostHeap {
  public:
    // nullopt if the plan's `init` refuses the region: it is too small, or 4 GiB or larger. Throws
    // Error if the base alignment is not valid or the host has no such memory.
    [[nodiscard]] static std::optional<HostHeap> try_init(const Plan &plan,
                                                          const RegionSpec &region);

    // As try_init; throws Error, with the smallest size there is, where that says nullopt.
    [[nodiscard]] static HostHeap init(const Plan &plan, const RegionSpec &region);

    // Nothing of a heap that cannot be shortened (hfit/descriptor.h), or does not end in a free
    // chunk.
    [[nodiscard]] std::optional<HeapImage> image() const;

    // The same heap, made shorter: as it would be in a region of `size` bytes where all was done
    // alike. Nothing if it cannot be.
    [[nodiscard]] static std::optional<HostHeap> shortened(const Plan &plan, const HeapImage &image,
                                                           std::uint64_t size);

    [[nodiscard]] const Plan &plan() const { return plan_; }
    [[nodiscard]] hfit_heap *get() const { return heap_; }
    [[nodiscard]] std::uint64_t size() const { return region_.size; }
    [[nodiscard]] std::uint64_t base_alignment() const { return region_.base_alignment; }

    [[nodiscard]] std::uint64_t footprint() const {
        return plan_.operations().footprint(heap_, plan_.raw());
    }

    // What the allocator of roomy() tells of its heap (hfit/descriptor.h); nothing if it does not,
    // or if there is none. Counts no accesses.
    [[nodiscard]] std::optional<hfit_reach> reach() const;

    // The heap that has what room the region gives: the shared one behind pools that do not grow,
    // else the heap itself. Nothing if there is no room for a shared one.
    [[nodiscard]] std::optional<RoomyHeap> roomy() const;

    // Gives back a block of which `size` bytes were asked for last, as the allocator wants to be
    // told.
    void free(void *block, Bytes size) const {
        const hfit_operations &operations = plan_.operations();
        if (plan_.allocator().needs_size) {
            operations.free_sized(heap_, plan_.raw(), block, static_cast<std::size_t>(size));
        } else {
            operations.free(heap_, plan_.raw(), block);
        }
    }

    // Bytes that the program may use of a block of which it asked for `size`; just those where the
    // heap does not know more.
    [[nodiscard]] Bytes usable_size(const void *block, Bytes size) const {
        return plan_.allocator().needs_size
                   ? size
                   : plan_.operations().usable_size(heap_, plan_.raw(), block);
    }

  private:
    HostHeap(const Plan &plan, Memory mapping, const RegionSpec &region, hfit_heap *heap);

    static Memory memory_for(const RegionSpec &region);
    static std::byte *base_in(const Memory &mapping, const RegionSpec &region);

    Plan plan_;
    Memory mapping_;
    RegionSpec region_;
    hfit_heap *heap_;
};

} // namespace heapfit
