// SPDX-License-Identifier: Apache-2.0
// The benchmark program of Cebeci 2019, section 1, on any allocator: a slot walk done to a real
// heap until a request is refused, and what it left.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heapfit/random.hpp"
#include "heapfit/replay/host_heap.hpp"
#include "heapfit/replay/meter.hpp"
#include "heapfit/workload/slot_walk.hpp"

namespace heapfit {

// Who walks: all that follows from these is the same on every machine.
struct SlotWorkload {
    std::uint64_t slots;
    Bytes least; // a request has, in bytes
    Bytes most;
    std::uint64_t seed;
};

// Loads and stores of metadata words by one kind of call.
struct CallAccesses {
    std::uint64_t calls = 0;
    std::uint64_t accesses = 0;
    std::uint64_t worst = 0; // of one call
};

struct SlotCounts {
    std::uint64_t loops = 0; // done; one whose request was refused is not
    CallAccesses alloc;      // those refused are not in it
    CallAccesses free;
    std::uint64_t live_blocks = 0;
    Bytes live = 0;               // asked for
    Bytes live_peak = 0;          // U_max of the run
    std::optional<Bytes> refused; // the request that ended the run
};

class SlotBuffer {
  public:
    // Throws Error if the workload makes no sense.
    SlotBuffer(HostHeap heap, const SlotWorkload &workload);

    // Does as many loops more. False once a request was refused; then nothing more is done.
    bool run(std::uint64_t loops);

    [[nodiscard]] const SlotCounts &counts() const { return counts_; }
    [[nodiscard]] Bytes footprint() const;

    // Bytes that the live blocks could hold.
    [[nodiscard]] Bytes usable() const { return sum_blocks(heap_).used; }

    // What each free block could serve: in the order in which the allocator searches them where it
    // tells one, else by address.
    [[nodiscard]] std::vector<std::uint32_t> free_sizes() const;

  private:
    struct Block {
        void *address;
        Bytes size; // asked for
    };

    bool fill(Block &block);
    void release(Block &block);

    HostHeap heap_;
    Philox random_;
    SizeLaw law_;
    SlotWalk walk_;
    std::vector<Block> slots_;
    SlotCounts counts_;
};

// Sizes drawn by the workload's law and seed alone.
[[nodiscard]] std::vector<std::uint64_t> draw_sizes(const SlotWorkload &workload,
                                                    std::size_t count);

} // namespace heapfit
