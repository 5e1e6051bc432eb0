// SPDX-License-Identifier: Apache-2.0
// The one place where what a source says of a heap becomes a trace. Every importer hands its
// requests to a TraceBuilder, which enforces the replay rules, names objects by ordinal, and counts
// what it had to change or drop. A request that breaks a rule is a heapfit::Error that names its
// position.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/event.hpp"
#include "heapfit/trace/event_array.hpp"
#include "heapfit/trace/live_table.hpp"

namespace heapfit {

// Alignments above this are refused: no firmware asks for 16 MiB, and a region would have to.
inline constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 24;

// A longer pause is counted: plots and service-rate models take it as one second.
inline constexpr Tick long_gap = Tick{3600} * 1'000'000;

// What a source says, before it is trusted.
struct Request {
    Op op = Op::alloc;
    std::uint64_t id = 0; // the source's own; may name another object once this one is freed
    std::uint64_t size = 0;
    std::uint64_t alignment = 0; // 0 = the heap's own; only an aligned request has one
    std::uint64_t time = 0;      // us since any origin
    std::uint32_t thread = 0;
    std::uint32_t site = 0;
    std::uint8_t needs = 0;  // bits of what its memory must offer
    std::uint8_t served = 0; // bits of what the memory offers that it was served in; 0 = unknown
};

// The columns of the stored trace (docs/evidence/schemas.md), all of one length.
struct TraceColumns {
    std::vector<std::uint8_t> op;
    std::vector<ObjectId> object;
    std::vector<Bytes> size;
    std::vector<std::uint32_t> alignment;
    std::vector<Tick> time;
    std::vector<std::uint32_t> thread;
    std::vector<std::uint32_t> site;
    std::vector<std::uint8_t> needs;  // empty where the source does not tell
    std::vector<std::uint8_t> served; // likewise

    bool operator==(const TraceColumns &) const = default;
};

// Requests that name no live object (or, for an allocation, one that lives already).
enum class OnUnknown { refuse, drop };

// "1 line", "2 lines": what notes begin with.
[[nodiscard]] std::string counted(std::uint64_t count, const char *one, const char *many);

// A number with commas between its thousands.
[[nodiscard]] std::string grouped(std::uint64_t number);

// A sentence on libstdc++'s emergency pool of so many bytes, which a reader left out.
[[nodiscard]] std::string emergency_pool_note(Bytes size);

class TraceBuilder {
  public:
    // Positions are told as "<unit> <number>".
    explicit TraceBuilder(OnUnknown on_unknown, std::string_view unit = "line");

    void add(const Request &request, std::uint64_t position);

    // The source is a log of a program that ran: its events of unknown objects are dropped.
    void drop_unknown() { on_unknown_ = OnUnknown::drop; }

    // The source tells what requests need: there is a column of it, 0 for those before.
    void tell_needs();

    // The same of where requests were served.
    void tell_served();

    // From here on the object called `old_id` answers to `new_id`. No event. False when dropped.
    bool rename(std::uint64_t old_id, std::uint64_t new_id, std::uint64_t position);

    // A request that names this id comes soon.
    void expect(std::uint64_t id) const { live_.expect(id); }

    [[nodiscard]] bool is_live(std::uint64_t id) { return live_.find(id) != nullptr; }

    // The source's ids of all live objects, in the order they were allocated in.
    [[nodiscard]] std::vector<std::uint64_t> live_ids() const;

    // Refuses a source without a single allocation.
    void finish() const;

    // Hands over the events added since the last call, of either form.
    [[nodiscard]] TraceColumns take();
    [[nodiscard]] EventArray take_events();

    [[nodiscard]] std::size_t pending() const { return rows_.size(); }
    [[nodiscard]] std::uint64_t events() const { return events_; }
    [[nodiscard]] std::uint64_t allocations() const { return allocations_; }
    [[nodiscard]] Bytes live_bytes() const { return live_bytes_; }
    [[nodiscard]] Bytes live_peak() const { return live_peak_; }
    [[nodiscard]] std::uint64_t live_blocks() const { return live_.size(); }

    // What was changed or dropped, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    // An event with all that a trace stores of it. One store an event, and columns are made of many
    // at once.
    struct Row {
        Event event;
        Tick time;
        std::uint32_t thread;
        std::uint32_t site;
        std::uint32_t alignment; // 1 is not 0 here
        std::uint8_t needs;
        std::uint8_t served;
    };

    void allocate(const Request &request);
    void resize(const Request &request);
    void release(const Request &request, bool is_resize);
    void release_unseen(std::uint64_t id, std::uint64_t time);
    [[nodiscard]] Tick advance(Tick time);
    void charge(Bytes old_size, Bytes new_size);
    void append(const Request &request, ObjectId object);
    void check(const Request &request) const;
    void drop(std::uint64_t &count, const std::string &what);
    [[noreturn]] void refuse(const std::string &what) const;

    OnUnknown on_unknown_;
    bool tells_needs_ = false;
    bool tells_served_ = false;
    std::string unit_;
    std::uint64_t position_ = 0;
    LiveTable live_;
    std::vector<Row> rows_; // not yet taken
    std::uint64_t events_ = 0;
    std::uint64_t allocations_ = 0;
    Bytes live_bytes_ = 0;
    Bytes live_peak_ = 0;
    Tick origin_ = 0;  // the source's time of the first event
    Tick latest_ = 0;  // time of the last event, from the origin
    Tick wrapped_ = 0; // added to a clock of 32 bits that began again
    std::uint64_t given_again_ = 0;
    std::uint64_t capped_ = 0;
    std::uint64_t dropped_resizes_ = 0;
    std::uint64_t dropped_frees_ = 0;
    std::uint64_t freed_amiss_ = 0; // the id of the first of these
    std::uint64_t resizes_to_zero_ = 0;
    std::uint64_t wraps_ = 0;
    std::uint64_t times_raised_ = 0;
    std::uint64_t long_gaps_ = 0;
};

} // namespace heapfit
