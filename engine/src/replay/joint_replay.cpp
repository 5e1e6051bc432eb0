// SPDX-License-Identifier: Apache-2.0
// The pass of several memories: what a trace asks for goes through core's rule.
#include "heapfit/replay/joint_replay.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

void require_memory(const MemorySpec &memory) {
    const hfit_allocator &allocator = memory.plan.allocator();
    if (allocator.needs_size || allocator.next_piece != nullptr) {
        throw Error(std::string("memories: ") + allocator.name +
                    " cannot serve one of several memories: blocks must lie in one piece, and be "
                    "freed without their size (choose another allocator)");
    }
}

} // namespace

void JointReplay::Live::change(std::uint64_t event, Bytes more, Bytes less) {
    byte_events += static_cast<double>(live) * static_cast<double>(event - since);
    since = event;
    live += more - less;
    peak = std::max(peak, live);
}

struct JointReplay::Visitor {
    JointReplay &replay;
    hfit_memories_plan plan;
    std::span<const std::uint16_t> requests;

    bool allocated(std::size_t i, const Event &event, Block &block) {
        const hfit_request request = request_of(i, event);
        block = {hfit_memories_alloc(&plan, replay.handles_.data(), &request), event.size, 0};
        keep_place(block);
        if (block.address == nullptr) {
            return refuse(i, event);
        }
        Live &live = replay.live_[block.memory];
        live.requests++;
        live.change(replay.events_ + i, event.size, 0);
        return true;
    }

    bool resized(std::size_t i, const Event &event, Block &block) {
        const hfit_request request = request_of(i, event);
        Block now = {hfit_memories_resize(&plan, replay.handles_.data(), block.address, &request),
                     event.size, 0};
        keep_place(now);
        if (now.address == nullptr) {
            return refuse(i, event);
        }
        replay.live_[block.memory].change(replay.events_ + i, 0, block.size);
        replay.live_[now.memory].requests++;
        replay.live_[now.memory].change(replay.events_ + i, now.size, 0);
        block = now;
        return true;
    }

    bool freed(std::size_t i, const Event &, const Block &block) {
        hfit_memories_free(&plan, replay.handles_.data(), block.address);
        replay.live_[block.memory].change(replay.events_ + i, 0, block.size);
        return true;
    }

  private:
    [[nodiscard]] hfit_request request_of(std::size_t i, const Event &event) const {
        const std::size_t alignment =
            event.alignment_log2 == 0 ? 0 : std::size_t{1} << event.alignment_log2;
        return {event.size, alignment, std::uint32_t{requests[i]} >> needs_shift,
                requests[i] & ((1U << needs_shift) - 1)};
    }

    void keep_place(Block &block) {
        block.memory = hfit_memories_find(&plan, replay.handles_.data(), block.address);
        if (!replay.keep_places_) {
            return;
        }
        const bool is_served = block.address != nullptr;
        replay.numbers_.push_back(is_served ? static_cast<std::uint8_t>(block.memory)
                                            : std::numeric_limits<std::uint8_t>::max());
        replay.offsets_.push_back(is_served ? offset_of(block)
                                            : std::numeric_limits<std::uint32_t>::max());
    }

    [[nodiscard]] std::uint32_t offset_of(const Block &block) const {
        const auto *const base = reinterpret_cast<std::byte *>(replay.handles_[block.memory]);
        return static_cast<std::uint32_t>(static_cast<std::byte *>(block.address) - base);
    }

    bool refuse(std::size_t i, const Event &event) {
        replay.failure_ = {replay.events_ + i, event.size};
        return false;
    }
};

JointReplay::JointReplay(const std::vector<MemorySpec> &memories, MemoryRule rule, bool keep_places)
    : rule_(std::move(rule)), keep_places_(keep_places) {
    if (memories.empty() || memories.size() > HFIT_MOST_MEMORIES || rule_.by_size.empty()) {
        throw Error("memories: there must be 1 to " + std::to_string(HFIT_MOST_MEMORIES) +
                    ", and a rule");
    }
    heaps_.reserve(memories.size());
    for (const MemorySpec &memory : memories) {
        require_memory(memory);
        heaps_.push_back(HostHeap::init(memory.plan, memory.region));
        const HostHeap &heap = heaps_.back();
        handles_.at(memories_.size()) = heap.get();
        memories_.push_back(
            {&heap.plan().operations(), heap.plan().raw(), heap.size(), memory.offers});
    }
}

bool JointReplay::feed(std::span<const Event> events, std::span<const std::uint16_t> requests) {
    if (events.size() != requests.size()) {
        throw Error("memories: there must be as many requests as events");
    }
    if (failure_) {
        return false;
    }
    Visitor visitor{*this,
                    {memories_.data(), rule_.by_size.data(), rule_.by_tag.data(), rule_.of_needs,
                     static_cast<std::uint32_t>(memories_.size()),
                     static_cast<std::uint32_t>(rule_.by_size.size()),
                     static_cast<std::uint32_t>(rule_.by_tag.size())},
                    requests};
    const Followed followed = follow(events, objects_, visitor);
    if (followed.is_bad) {
        throw_bad_event(events_ + followed.count, events[followed.count], objects_.next());
    }
    events_ += followed.count;
    return followed.count == events.size();
}

std::vector<MemoryShare> JointReplay::shares() const {
    const UncountedAccesses uncounted;
    std::vector<MemoryShare> shares;
    for (std::size_t i = 0; i < heaps_.size(); i++) {
        Live live = live_[i];
        live.change(events_, 0, 0);
        shares.push_back({live.requests, live.peak, heaps_[i].footprint(), live.byte_events});
    }
    return shares;
}

} // namespace heapfit
