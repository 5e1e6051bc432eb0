// SPDX-License-Identifier: Apache-2.0
// Logs of heap calls as people have them, line by line, whatever else stands in the lines between
// (docs/import-formats.md shows each): heaplog, wolfSSL, NuttX, Zephyr, FreeRTOS, ESP-IDF's lists
// and SystemView's heap events, mtrace, Mbed's memory trace, and calls as valgrind, ltrace and RIOT
// print them. The first line that is an event tells which of them a log is.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heapfit/trace/line.hpp"
#include "heapfit/trace/log_pattern.hpp"
#include "heapfit/trace/node_table.hpp"
#include "heapfit/trace/running_heap.hpp"
#include "heapfit/trace/size_pairs.hpp"

namespace heapfit {

// Whether a line of these bytes is an event of a heap's log.
[[nodiscard]] bool has_heap_log(std::string_view bytes);

class HeapLogTrace {
  public:
    explicit HeapLogTrace(OnUnknown on_unknown) : heap_(on_unknown) {}

    // A log whose events are lines of the user's own alone; `freed`: which of equal blocks a free
    // means where they have no addresses. Throws Error, naming the line, where a description lacks
    // a field that its call needs or cannot be read.
    HeapLogTrace(OnUnknown on_unknown, const std::vector<OwnLine> &own, Equal freed);

    void feed(std::string_view chunk);

    // Refuses a log without an allocation.
    void finish();

    [[nodiscard]] TraceBuilder &builder() { return heap_.builder(); }
    [[nodiscard]] const TraceHeader &header() const { return header_; }

    // The callers of each site that stands for several.
    [[nodiscard]] const std::map<std::uint32_t, Callers> &chains() const { return chains_; }

    // What was passed over, changed or dropped, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

    // Where the log ends inside a line; "" if it does not.
    [[nodiscard]] const std::string &damage() const { return damage_; }

    // Times in us by the lines that tell them, of the first ones, as a clock goes on that began
    // again.
    [[nodiscard]] const std::map<std::uint64_t, std::uint64_t> &times() const { return times_; }

  private:
    void take(std::string_view line, std::uint64_t number);
    void take_last(std::string_view line, std::uint64_t number);
    [[nodiscard]] std::span<const LogPattern> patterns() const;
    void keep_half(std::string_view text);
    [[nodiscard]] std::string join_halves(std::string_view line);
    void take_whole(std::string_view line, std::uint64_t number);
    void pass_over(bool is_other);
    void keep_rest(std::string_view line, std::size_t size);
    void apply(HeapCall call, std::uint64_t number);
    void apply_held();
    void apply_unsized();
    void look_at(std::string_view line);
    [[nodiscard]] bool is_repeated(std::string_view line, const HeapCall &call);
    [[nodiscard]] std::uint32_t name_site(const Callers &callers);
    [[nodiscard]] std::uint64_t carry_on(const HeapCall &call);
    bool take_listed(std::string_view line, std::uint64_t number);
    void end_table(std::uint64_t number);

    LineSplitter splitter_{longest_line, true};
    RunningHeap heap_;
    TraceHeader header_;
    std::vector<std::string> own_texts_; // which own_ looks at
    std::vector<LogPattern> own_;
    std::optional<SizePairs> pairs_;            // of a log without addresses
    std::optional<std::size_t> dialect_;        // once an event was read
    std::map<std::string, std::string> halves_; // of calls, by thread and function
    std::map<std::uint32_t, Callers> chains_;
    std::optional<std::pair<HeapCall, std::uint64_t>> held_;  // whose callers may follow, its line
    std::vector<std::pair<HeapCall, std::uint64_t>> unsized_; // calls that are applied next
    std::optional<std::uint64_t> header_bytes_;               // of each size, once it is known
    std::map<std::string, std::uint64_t> unread_;             // lines by the name that they call
    std::string alike_;                  // the first line that has the words of a description alone
    std::uint64_t alike_lines_ = 0;      // such lines
    std::uint64_t said_allocations_ = 0; // by the log's own words
    std::uint64_t said_frees_ = 0;
    bool is_overflowed_ = false;
    std::uint64_t listed_ = 0;       // blocks of the last list
    std::uint64_t old_ = 0;          // of a resize whose second line is to come
    std::optional<NodeTable> table_; // that is being read
    bool lists_free_ = false;        // what is listed next is free
    bool has_order_ = true;          // the last table did
    std::string rest_;               // behind the last call of a line in pieces
    bool goes_on_ = false;           // this piece continues the line before
    bool is_other_ = false;          // the line has had no call so far
    bool is_ended_ = false;          // by the line that ends a whole log
    std::string damage_;
    std::map<std::uint64_t, std::uint64_t> times_;
    std::uint64_t highest_ = 0;   // time that a line had, in us
    std::uint64_t last_time_ = 0; // in us, as the line had it
    std::string last_line_;       // if it had a call with a time and an address
    std::uint64_t repeated_ = 0;  // lines
    std::uint64_t carried_ = 0;   // us of the counter's ranges that are over
    std::uint64_t wraps_ = 0;
    std::uint64_t lines_ = 0;
    std::uint64_t other_lines_ = 0;
};

} // namespace heapfit
