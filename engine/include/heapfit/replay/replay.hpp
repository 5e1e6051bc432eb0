// SPDX-License-Identifier: Apache-2.0
// Exact replay: every event of a trace done to a real heap of core, and what it cost.
//
// The rules (DESIGN.md): a request of 0 bytes adds 0 to the live bytes; a zeroed request is an
// allocation whose bytes count as payload; a resize that fails keeps the old block, also where it
// is moved. A refusal ends the replay, unless keep_going: then it is counted, and later events of
// an object that was never served are passed over.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "heapfit/replay/host_heap.hpp"
#include "heapfit/replay/meter.hpp"
#include "heapfit/trace/follow.hpp"
#include "heapfit/trace/sampling.hpp"

namespace heapfit {

struct ReplayOptions {
    std::size_t samples = 0;           // points of the series at least; 0: none is kept
    std::uint64_t expected_events = 0; // length of the trace where known, else 0
    bool keep_going = false;
    bool keep_offsets = false;    // see Replay::offsets
    bool ask_room = false;        // see Replay::room
    bool ask_alike = false;       // see Replay::rises
    std::uint64_t alike_from = 0; // room with which a region is asked of at least
};

// From this event on a smaller region needs so much room to do all alike.
struct RoomRise {
    std::uint64_t event;
    std::uint64_t room;
};

// The heap after `event` events. Fragmentation is in bytes.
struct ReplaySample {
    std::uint64_t event;
    Bytes live;
    Bytes footprint;
    Bytes internal; // inside live blocks, asked for by nobody
    Bytes external; // free bytes outside the largest free block
};

struct Refusal {
    std::uint64_t event; // number of the first event that was refused
    Bytes size;          // what it asked for
};

struct ReplayResult {
    std::uint64_t events; // done; the refused event that ends a replay is not
    std::uint64_t allocations;
    std::uint64_t frees;
    std::uint64_t resizes;
    Bytes live_peak;
    Bytes footprint;
    Bytes height;         // from the lowest byte that a block was asked for to the highest
    std::uint64_t loads;  // of metadata words, `init` excluded
    std::uint64_t stores; // likewise
    Bytes payload;        // copied by resizes and zeroed
    std::uint64_t refusals;
    std::optional<Refusal> failure; // the first refusal
    Bytes internal_peak;            // over the samples
    Bytes external_peak;            // over the samples
    std::uint64_t blocks_walked;    // for the samples
    std::vector<ReplaySample> series;
    // FNV-1a over the 32-bit offset of every block returned, in order: two replays with equal
    // hashes placed alike.
    std::uint64_t placement_hash;
};

class Replay {
  public:
    explicit Replay(HostHeap heap, const ReplayOptions &options = {});

    // Replays `events`. False once a refusal ended the replay; then nothing more is done. Throws
    // Error if an event breaks the rules of a trace, or asks for more alignment than the region's
    // base has.
    bool feed(std::span<const Event> events);

    [[nodiscard]] ReplayResult result() const;

    // The heap as it is now: after a refusal that ended the replay, as that request found it.
    [[nodiscard]] BlockSums blocks() const { return sum_blocks(heap_); }
    [[nodiscard]] Bytes live() const { return totals_.live_peak - totals_.below_peak; }
    [[nodiscard]] Bytes footprint() const {
        const UncountedAccesses uncounted;
        return heap_.footprint();
    }
    [[nodiscard]] std::uint64_t events() const { return events_; } // done

    // Bytes of a region that the trace took, if every region with room for as many would do: the
    // footprint, or what the allocator tells of its reach. Else 0.
    [[nodiscard]] std::uint64_t reach() const;

    // Room with which every region serves all that was served here, and places it alike, as the
    // allocator told before each request (hfit/descriptor.h); nothing if it was not asked or does
    // not know.
    [[nodiscard]] std::optional<std::uint64_t> room() const;

    // Of a replay that asks: from which events on how much room a region that is smaller, and whose
    // control structures are as long, needs for all to be done there as here, refusals included.
    [[nodiscard]] const std::vector<RoomRise> &rises() const { return rises_; }

    // Bytes of the free chunk at the region's end, where the allocator tells; else 0.
    [[nodiscard]] std::uint64_t last_free() const;

    // What a replay can be gone on from in a smaller region, all done alike until then.
    class State;

    // Nothing if the heap cannot be shortened. The event before must have changed the last free
    // chunk, and no chunk after it.
    [[nodiscard]] std::optional<State> state() const;

    // Nothing if the heap cannot be as it would be in a region of `size` bytes. It asks.
    [[nodiscard]] static std::optional<Replay> resumed(const Plan &plan, const State &state,
                                                       std::uint64_t size);

    // Where each block of a byte or more was placed, resized ones again, from the region's start,
    // in the order of the trace's lifetimes (packing/lifetimes.hpp): of them all, if nothing was
    // refused. Empty unless they are kept.
    [[nodiscard]] const std::vector<Bytes> &offsets() const { return offsets_; }

    // The events that were refused, in order, of a replay that keeps going.
    [[nodiscard]] const std::vector<std::uint64_t> &refusals() const { return refusals_; }

  private:
    struct Block {
        std::uint32_t offset; // from the region's start, or `refused`
        std::uint32_t size;   // asked for
    };
    // No block begins at a region's last byte.
    static constexpr std::uint32_t refused = std::numeric_limits<std::uint32_t>::max();

    // What changes with every event, kept together so that the loop can hold it in registers.
    struct Totals {
        std::uint64_t allocations = 0;
        std::uint64_t frees = 0;
        std::uint64_t resizes = 0;
        std::uint64_t refusals = 0;
        Bytes live_peak = 0;
        Bytes below_peak = 0;                             // that much is live less than at the peak
        Bytes payload = 0;                                // zeroed, or copied by moves
        std::uint8_t largest_alignment_log2 = 0;          // of blocks that were served
        Bytes lowest = std::numeric_limits<Bytes>::max(); // of the bytes asked for
        Bytes highest = 0;                                // end of them
        std::uint64_t placement_hash = 0xcbf29ce484222325;
    };

    // The most room that any request needed so far.
    struct NeededRoom {
        std::uint32_t most = 0;
        bool is_known = true;
    };

    struct Visitor;
    struct AskingVisitor;

    void feed_bucket(std::span<const Event> events);
    Followed follow_asking(std::span<const Event> events, Visitor &visitor);
    [[nodiscard]] bool has_aligned_beyond() const;
    void count_accesses(const heapfit_access_counts &before);
    void close_bucket();
    [[nodiscard]] ReplaySample sample(std::uint64_t &walked) const;

    HostHeap heap_;
    ReplayOptions options_;
    ObjectTable<Block> objects_;
    Totals totals_;
    heapfit_access_counts counts_{};
    std::uint64_t events_ = 0;
    std::optional<Refusal> failure_;
    bool is_over_ = false;
    Buckets buckets_;
    std::vector<ReplaySample> series_;
    std::uint64_t blocks_walked_ = 0;
    std::vector<Bytes> offsets_;
    std::vector<std::uint64_t> refusals_;
    NeededRoom needed_;
    std::vector<RoomRise> rises_;
};

class Replay::State {
  public:
    [[nodiscard]] std::uint64_t events() const { return events_; }

  private:
    friend class Replay;
    State(HeapImage heap, ObjectTable<Block> objects)
        : heap_(std::move(heap)), objects_(std::move(objects)) {}

    HeapImage heap_;
    ObjectTable<Block> objects_;
    Totals totals_;
    NeededRoom needed_;
    std::uint64_t events_ = 0;
};

} // namespace heapfit
