// SPDX-License-Identifier: Apache-2.0
// Reads a log with frames of the recorder for targets (recorder/target/FRAMES.md), fed in chunks of
// any split. Whatever else is in the log is passed over; frames are known by their mark and CRC.
//
//   boot text | header | frame 0 | frame 17 | panic: ... | frame 52 | ...
//                        17 events  | 35 of them arrived: none missing, if there were 35
//
// The numbers of frames count events, so what is missing is known to the event. An allocation where
// a live block lies shows that the block's free is among the missing: it is freed then.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/trace/builder.hpp"
#include "heapfit/trace/line.hpp"

namespace heapfit {

// Whether a frame lies anywhere in these bytes.
[[nodiscard]] bool has_frame(std::string_view bytes);

class FrameTrace {
  public:
    explicit FrameTrace(OnUnknown on_unknown) : builder_(on_unknown, "frame") {}

    void feed(std::string_view chunk);

    // Refuses a log without a frame, and one without an allocation.
    void finish();

    [[nodiscard]] TraceBuilder &builder() { return builder_; }
    [[nodiscard]] const TraceHeader &header() const { return header_; }

    // Keeps where the target placed blocks, 4 bytes each: to be called before the first feed.
    void keep_addresses() { is_placed_ = true; }

    // The addresses of all blocks of a byte or more, resized ones again, in the order of their
    // events: that of Replay::offsets, which differ by the region's start alone if the target
    // placed as the replay does. Lower 32 bits. Empty unless they are kept.
    [[nodiscard]] const std::vector<std::uint32_t> &addresses() const { return addresses_; }

    // Events that are missing between those of the log, so far.
    [[nodiscard]] std::uint64_t missing() const { return missing_; }

    // Where the log goes on with another recording, which is not read; "" if it does not.
    [[nodiscard]] std::string damage() const;

    // True if no event before or between those of the log is missing, and no block was live before.
    [[nodiscard]] bool is_whole() const;

    // What is missing, or was changed or dropped, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    // What header frames tell, but for the count of events.
    struct About {
        std::uint32_t pointer_bits = 0; // 0: no header was found
        std::uint32_t alignment_log2 = 0;
        std::uint32_t tick_rate = 0;
        std::uint32_t heap_base = 0;
        std::uint32_t heap_size = 0;
        std::uint32_t live = 0;
        std::uint32_t flags = 0;

        bool operator==(const About &) const = default;
    };

    // One event of a frame. Steps lead from one address to the next, in units of the alignment.
    struct Event {
        Op op = Op::alloc;
        bool is_refused = false;
        std::int64_t old_step = 0; // of a resize: to the old block
        std::int64_t step = 0;
        std::uint32_t size = 0;
        std::uint32_t alignment_log2 = 0;
        std::uint32_t site = 0;
        std::uint8_t needs = 0;
        std::uint8_t served = 0; // of this block, and until another is told of those behind it
        std::uint32_t tick = 0;
    };

    struct Frame {
        std::uint16_t number; // events before it, lower 16 bits
        std::uint32_t tick;   // when it was begun
        std::vector<Event> events;
    };

    class Bytes;

    void scan(bool is_end);
    void take(std::string_view frame);
    void take_header(std::uint16_t number, std::string_view body);
    void take_events(Frame frame, std::string_view body);
    [[nodiscard]] bool continues_waiting(std::uint32_t before) const;
    void begin(const About &about, std::uint32_t before);
    void skip_to(std::uint64_t number);
    void apply(const Frame &frame);
    void apply(const Event &event, std::uint32_t &address);
    void allocate(const Request &request);
    void add_placed(const Request &request);
    void resize(std::uint64_t old, const Request &request);
    [[nodiscard]] std::string describe_overlaps() const;
    void free_overlapped(const Request &request);
    [[nodiscard]] std::uint64_t end_of(std::uint64_t address, std::uint64_t size) const;
    [[nodiscard]] std::uint32_t after(std::uint32_t address, std::int64_t step) const;
    [[nodiscard]] Tick time_at(std::uint32_t tick);
    [[nodiscard]] static Event read_event(Bytes &bytes, const Event &before);
    static void read_prefix(Bytes &bytes, std::uint32_t what, Event &event);

    TraceBuilder builder_;
    TraceHeader header_;
    std::string tail_; // bytes not looked at yet, fewer than a longest frame's after each feed
    std::optional<About> about_;
    std::vector<Frame> waiting_; // frames before the first header, which tells how to read them
    std::map<std::uint64_t, std::uint64_t> live_; // blocks: address, size
    bool is_placed_ = false;                      // addresses are kept
    std::vector<std::uint32_t> addresses_;
    bool is_over_ = false;       // another recording begins in the log
    std::uint64_t over_at_ = 0;  // its first byte
    std::uint64_t consumed_ = 0; // bytes before tail_
    std::uint64_t frames_ = 0;
    std::uint64_t next_ = 0; // events before the next frame, if none is missing
    bool has_tick_ = false;
    std::uint32_t tick_ = 0; // of the event before, and the same from the first on, not wrapped
    std::uint64_t ticks_ = 0;
    std::uint64_t cut_ = 0;     // events before the log's first
    std::uint64_t missing_ = 0; // events between its first and its last
    std::uint64_t gaps_ = 0;
    std::uint64_t other_bytes_ = 0;
    std::uint64_t damaged_ = 0;  // frames whose CRC is right and whose events are not
    std::uint64_t repeated_ = 0; // frames that were there before
    std::uint64_t refused_ = 0;  // requests the heap could not serve
    std::uint32_t largest_refused_ = 0;
    std::uint64_t overlapped_ = 0;      // blocks whose free is missing
    std::uint64_t first_overlap_ = 0;   // the event that was given the place of the first of them
    std::uint64_t unknown_resizes_ = 0; // of blocks whose allocation is missing
};

} // namespace heapfit
