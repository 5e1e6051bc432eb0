// SPDX-License-Identifier: Apache-2.0
// Exact replay on several memories at once: each has a heap of core, and core's own rule
// (hfit/memories.h) sends every request to one of them.
//
// A resize is a request of its own: it may move a block to another memory, and what it needs is
// told with it. A request that no memory of its route serves ends the replay.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hfit/memories.h"

#include "heapfit/replay/host_heap.hpp"
#include "heapfit/replay/replay.hpp"
#include "heapfit/trace/follow.hpp"

namespace heapfit {

struct MemorySpec {
    Plan plan;
    RegionSpec region;
    std::uint32_t offers; // a bit for each capability
};

// As in hfit_memories_plan.
struct MemoryRule {
    std::vector<hfit_size_route> by_size;
    std::vector<hfit_route> by_tag;
    hfit_route of_needs;
};

// What a memory served. Bytes are as requested.
struct MemoryShare {
    std::uint64_t requests; // allocations, and resizes that ended there
    Bytes live_peak;
    Bytes footprint;
    double byte_events; // the sum of its live bytes after each event
};

class JointReplay {
  public:
    // Bits of a request in the column `requests`: what it needs, and its call site's tag below.
    static constexpr unsigned needs_shift = 8;

    // Throws Error if there are no memories or too many, a memory cannot be one, or its region is
    // too small.
    JointReplay(const std::vector<MemorySpec> &memories, MemoryRule rule, bool keep_places);

    // `requests`: of each event, 0 for a free. False once a refusal ended the replay. Throws Error
    // if the columns differ in length or an event breaks the rules of a trace.
    bool feed(std::span<const Event> events, std::span<const std::uint16_t> requests);

    [[nodiscard]] std::vector<MemoryShare> shares() const;
    [[nodiscard]] const std::optional<Refusal> &failure() const { return failure_; }

    // Of every request in order, where they are kept: the memory's number and the offset from its
    // start; both the largest there is if it was refused.
    [[nodiscard]] const std::vector<std::uint8_t> &numbers() const { return numbers_; }
    [[nodiscard]] const std::vector<std::uint32_t> &offsets() const { return offsets_; }

  private:
    struct Block {
        void *address;
        Bytes size; // asked for
        std::uint32_t memory;
    };
    struct Live {
        std::uint64_t requests = 0;
        Bytes live = 0;
        Bytes peak = 0;
        std::uint64_t since = 0; // event of the last change
        double byte_events = 0;

        void change(std::uint64_t event, Bytes more, Bytes less);
    };
    struct Visitor;

    std::vector<HostHeap> heaps_;
    std::vector<hfit_memory> memories_;
    MemoryRule rule_;
    bool keep_places_;
    std::array<hfit_heap *, HFIT_MOST_MEMORIES> handles_{};
    std::array<Live, HFIT_MOST_MEMORIES> live_{};
    ObjectTable<Block> objects_;
    std::uint64_t events_ = 0;
    std::optional<Refusal> failure_;
    std::vector<std::uint8_t> numbers_;
    std::vector<std::uint32_t> offsets_;
};

} // namespace heapfit
