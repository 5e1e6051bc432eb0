// SPDX-License-Identifier: Apache-2.0
// The replaying pass: a visitor of `follow` that does to a heap what the trace says.
#include "heapfit/replay/replay.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "heapfit/compiler.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t unknown_room = std::uint64_t{1} << 32; // no region has it

}

struct Replay::Visitor {
    const hfit_operations &operations;
    hfit_heap *heap;
    const hfit_plan *plan;
    bool needs_size;
    decltype(hfit_allocator::alloc_at) alloc_at; // nullptr: call sites are not looked at
    int base_alignment_log2;
    std::vector<std::uint64_t> *refusals; // events; nullptr: the first one ends the replay
    std::uint64_t first;                  // event of those at hand
    Totals totals;
    std::vector<Bytes> *offsets;          // nullptr: not kept
    const Event *first_refused = nullptr; // of the events at hand; likewise
    const Event *overaligned = nullptr;

    bool allocated(std::size_t i, const Event &event, Block &block) {
        totals.allocations++;
        const void *const address = event.op == Op::alloc && event.tag == 0
                                        ? operations.alloc(heap, plan, event.size)
                                        : serve_special(event);
        if (address == nullptr) [[unlikely]] {
            block = {refused, 0};
            return overaligned == nullptr && refuse(i, event);
        }
        place(address, event.size, block);
        return true;
    }

    bool resized(std::size_t i, const Event &event, Block &block) {
        if (block.offset == refused) {
            return true;
        }
        totals.resizes++;
        const void *const address =
            event.tag == 0 || stays(event, block)
                ? operations.resize_sized(heap, plan, address_of(block), block.size, event.size)
                : move(event, block);
        if (address == nullptr) {
            return refuse(i, event);
        }
        totals.below_peak += block.size;
        place(address, event.size, block);
        return true;
    }

    bool freed(std::size_t, const Event &, const Block &block) {
        if (block.offset != refused) {
            totals.frees++;
            give_back(block);
            totals.below_peak += block.size;
        }
        return true;
    }

    [[nodiscard]] void *address_of(const Block &block) const {
        return reinterpret_cast<std::byte *>(heap) + block.offset;
    }

  private:
    void give_back(const Block &block) {
        if (needs_size) {
            operations.free_sized(heap, plan, address_of(block), block.size);
        } else {
            operations.free(heap, plan, address_of(block));
        }
    }

    // Whether a resize stays in its chunk, by its mark (EventArray::moving).
    [[nodiscard, gnu::noinline]] bool stays(const Event &event, const Block &block) const {
        const UncountedAccesses uncounted;
        const Bytes now = operations.usable_size(heap, plan, address_of(block));
        const Bytes asked = (event.size + plan->alignment - 1) / plan->alignment * plan->alignment;
        return event.tag > 1 && (asked == now || asked + (event.tag & 0xFF) <= now);
    }

    // A resize of a heap that has none: its caller takes a new block and copies, and keeps the old
    // one if there is none.
    [[gnu::noinline]] const void *move(const Event &event, const Block &block) {
        const Bytes least = event.tag >> 8;
        const void *const address = operations.alloc(heap, plan, std::max(event.size, least));
        if (address != nullptr) {
            totals.payload += std::min<Bytes>(block.size, event.size);
            give_back(block);
        }
        return address;
    }

    // A zeroed, an aligned or a tagged request. The zeroing itself changes no placement, so it is
    // left out.
    [[nodiscard]] void *serve_special(const Event &event) {
        if (event.alignment_log2 > base_alignment_log2) {
            overaligned = &event;
            return nullptr;
        }
        if (event.alignment_log2 != 0) {
            totals.largest_alignment_log2 =
                std::max(totals.largest_alignment_log2, event.alignment_log2);
            return operations.alloc_aligned(heap, plan, std::size_t{1} << event.alignment_log2,
                                            event.size);
        }
        void *const address = event.tag != 0 && alloc_at != nullptr
                                  ? alloc_at(heap, plan, event.size, event.tag)
                                  : operations.alloc(heap, plan, event.size);
        totals.payload += event.op == Op::zeroed && address != nullptr ? event.size : 0;
        return address;
    }

    // A request that was served is smaller than its region, so its size has 32 bits. Few reach
    // beyond what was taken before.
    void place(const void *address, Bytes size, Block &block) {
        const auto offset = static_cast<std::uint32_t>(static_cast<const std::byte *>(address) -
                                                       reinterpret_cast<std::byte *>(heap));
        block = {offset, static_cast<std::uint32_t>(size)};
        totals.placement_hash = (totals.placement_hash ^ offset) * 0x100000001b3;
        if (subtract(totals.below_peak, size)) [[unlikely]] {
            totals.live_peak -= totals.below_peak;
            totals.below_peak = 0;
        }
        if (size == 0) {
            return;
        }
        if (offset < totals.lowest) [[unlikely]] {
            totals.lowest = offset;
        }
        if (offset + size > totals.highest) [[unlikely]] {
            totals.highest = offset + size;
        }
        if (offsets != nullptr) {
            offsets->push_back(offset);
        }
    }

    bool refuse(std::size_t i, const Event &event) {
        totals.refusals++;
        first_refused = first_refused == nullptr ? &event : first_refused;
        return refusals != nullptr && keep_refusal(*refusals, first + i);
    }

    // Out of the loop over events, which has no register to spare for it.
    [[gnu::noinline, gnu::cold]] static bool keep_refusal(std::vector<std::uint64_t> &refusals,
                                                          std::uint64_t event) {
        refusals.push_back(event);
        return true;
    }
};

// Asks before each request how much room it needs, and keeps that of those that are served, or
// were, by the heap to which room matters, or refused.
struct Replay::AskingVisitor {
    Visitor &visitor;
    RoomyHeap roomy;
    decltype(hfit_allocator::room_for) room_of;
    NeededRoom needed;
    std::vector<RoomRise> *rises; // nullptr: not kept
    std::uint64_t first;          // event

    bool allocated(std::size_t i, const Event &event, Block &block) {
        NeededRoom asked = ask(nullptr, event.size);
        asked.is_known = asked.is_known && (rises == nullptr || !is_beyond(event));
        const bool goes_on = visitor.allocated(i, event, block);
        if (is_roomy(block)) {
            keep(i, asked);
        }
        return goes_on;
    }

    bool resized(std::size_t i, const Event &event, Block &block) {
        const bool was_roomy = is_roomy(block);
        const NeededRoom asked = ask(was_roomy ? visitor.address_of(block) : nullptr, event.size);
        const bool goes_on = visitor.resized(i, event, block);
        if (was_roomy || is_roomy(block) || !goes_on) {
            keep(i, asked);
        }
        return goes_on;
    }

    bool freed(std::size_t i, const Event &event, const Block &block) {
        return visitor.freed(i, event, block);
    }

  private:
    [[nodiscard]] bool is_roomy(const Block &block) const { return block.offset >= roomy.offset; }

    [[nodiscard]] bool is_beyond(const Event &event) const {
        return event.alignment_log2 > std::countr_zero(roomy.plan->alignment);
    }

    [[nodiscard]] NeededRoom ask(const void *block, Bytes size) const {
        const UncountedAccesses uncounted;
        NeededRoom asked;
        asked.is_known =
            room_of != nullptr && room_of(roomy.heap, roomy.plan, block, size, &asked.most);
        return asked;
    }

    void keep(std::size_t i, const NeededRoom &asked) {
        const bool rises_now = needed.is_known && (!asked.is_known || asked.most > needed.most);
        needed.is_known = needed.is_known && asked.is_known;
        needed.most = std::max(needed.most, asked.most);
        if (rises != nullptr && rises_now) {
            rises->push_back({first + i, needed.is_known ? needed.most : unknown_room});
        }
    }
};

Replay::Replay(HostHeap heap, const ReplayOptions &options)
    : heap_(std::move(heap)), options_(options),
      buckets_(options.samples, options.expected_events) {
    needed_.most = static_cast<std::uint32_t>(options.alike_from);
}

bool Replay::feed(std::span<const Event> events) {
    const bool is_sampled = options_.samples > 0;
    while (!events.empty() && !is_over_) {
        const std::size_t count =
            is_sampled ? std::min<std::uint64_t>(events.size(), buckets_.room()) : events.size();
        feed_bucket(events.first(count));
        events = events.subspan(count);
        if (is_sampled && !is_over_ && buckets_.fill(count)) {
            close_bucket();
        }
    }
    return !is_over_;
}

void Replay::feed_bucket(std::span<const Event> events) {
    Visitor visitor{heap_.plan().operations(),
                    heap_.get(),
                    heap_.plan().raw(),
                    heap_.plan().allocator().needs_size,
                    heap_.plan().allocator().alloc_at,
                    std::countr_zero(heap_.base_alignment()),
                    options_.keep_going ? &refusals_ : nullptr,
                    events_,
                    totals_,
                    options_.keep_offsets ? &offsets_ : nullptr};
    const heapfit_access_counts before = heapfit_counts;
    const bool is_asking = options_.ask_room || options_.ask_alike;
    const Followed followed =
        is_asking ? follow_asking(events, visitor) : follow(events, objects_, visitor);
    count_accesses(before);
    const std::uint64_t index = events_ + followed.count;
    if (followed.is_bad) {
        throw_bad_event(index, events[followed.count], objects_.next());
    }
    if (visitor.overaligned != nullptr) {
        throw Error("event " + std::to_string(index) + ": alignment 2^" +
                    std::to_string(events[followed.count].alignment_log2) +
                    " is above the region's (give the largest of the trace as base alignment)");
    }
    totals_ = visitor.totals;
    if (const Event *const refused = visitor.first_refused; refused != nullptr && !failure_) {
        failure_ = {events_ + static_cast<std::size_t>(refused - events.data()), refused->size};
    }
    events_ = index;
    is_over_ = followed.count < events.size();
}

Followed Replay::follow_asking(std::span<const Event> events, Visitor &visitor) {
    const std::optional<RoomyHeap> roomy = heap_.roomy();
    const bool is_alike = options_.ask_alike;
    const hfit_allocator &allocator = *roomy.value().allocator;
    AskingVisitor asking{visitor,
                         roomy.value(),
                         is_alike ? allocator.room_alike : allocator.room_for,
                         needed_,
                         is_alike ? &rises_ : nullptr,
                         events_};
    const Followed followed = follow(events, objects_, asking);
    needed_ = asking.needed;
    return followed;
}

void Replay::count_accesses(const heapfit_access_counts &before) {
    counts_.loads += heapfit_counts.loads - before.loads;
    counts_.stores += heapfit_counts.stores - before.stores;
    counts_.payload += heapfit_counts.payload - before.payload;
    if (heapfit_counts.misuses != before.misuses) {
        throw Error(std::string("replay: ") + heap_.plan().allocator().name +
                    " refused to free or resize a live block (a bug of the allocator: report it)");
    }
}

void Replay::close_bucket() {
    series_.push_back(sample(blocks_walked_));
    if (!buckets_.must_join()) {
        return;
    }
    for (std::size_t i = 0; i < series_.size() / 2; i++) {
        series_[i] = series_[2 * i + 1]; // the end of two joined buckets is the second's
    }
    series_.resize(series_.size() / 2);
}

ReplaySample Replay::sample(std::uint64_t &walked) const {
    const UncountedAccesses uncounted;
    const BlockSums sums = sum_blocks(heap_);
    walked += sums.blocks;
    return {events_, live(), heap_.footprint(), sums.used - live(), sums.external_fragmentation()};
}

std::uint64_t Replay::reach() const {
    if (heap_.plan().ignores_region_end()) {
        return footprint();
    }
    const std::optional<hfit_reach> reach = heap_.reach();
    return reach && !has_aligned_beyond() ? reach->most : 0;
}

std::optional<std::uint64_t> Replay::room() const {
    const bool is_known = options_.ask_room && needed_.is_known && !has_aligned_beyond();
    return is_known ? std::optional<std::uint64_t>(needed_.most) : std::nullopt;
}

std::uint64_t Replay::last_free() const {
    const std::optional<RoomyHeap> roomy = heap_.roomy();
    return roomy ? roomy->room().value_or(hfit_reach{}).last : 0;
}

std::optional<Replay::State> Replay::state() const {
    std::optional<HeapImage> heap = heap_.image();
    if (!heap) {
        return std::nullopt;
    }
    State state(std::move(*heap), objects_.copied());
    state.totals_ = totals_;
    state.needed_ = needed_;
    state.events_ = events_;
    return state;
}

std::optional<Replay> Replay::resumed(const Plan &plan, const State &state, std::uint64_t size) {
    std::optional<HostHeap> heap = HostHeap::shortened(plan, state.heap_, size);
    if (!heap) {
        return std::nullopt;
    }
    Replay replay(std::move(*heap), {.ask_alike = true});
    replay.objects_ = state.objects_.copied();
    replay.totals_ = state.totals_;
    replay.needed_ = state.needed_;
    replay.events_ = state.events_;
    return replay;
}

bool Replay::has_aligned_beyond() const {
    return totals_.largest_alignment_log2 > std::countr_zero(heap_.plan().alignment());
}

ReplayResult Replay::result() const {
    const UncountedAccesses uncounted;
    ReplayResult result{};
    result.events = events_;
    result.allocations = totals_.allocations;
    result.frees = totals_.frees;
    result.resizes = totals_.resizes;
    result.live_peak = totals_.live_peak;
    result.footprint = heap_.footprint();
    result.height = totals_.highest - std::min(totals_.lowest, totals_.highest);
    result.loads = counts_.loads;
    result.stores = counts_.stores;
    result.payload = counts_.payload + totals_.payload;
    result.refusals = totals_.refusals;
    result.failure = failure_;
    result.placement_hash = totals_.placement_hash;
    result.series = series_;
    result.blocks_walked = blocks_walked_;
    if (options_.samples > 0 && buckets_.is_partly_filled()) {
        result.series.push_back(sample(result.blocks_walked));
    }
    for (const ReplaySample &point : result.series) {
        result.internal_peak = std::max(result.internal_peak, point.internal);
        result.external_peak = std::max(result.external_peak, point.external);
    }
    return result;
}

} // namespace heapfit
