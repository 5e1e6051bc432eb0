// SPDX-License-Identifier: Apache-2.0
// Logs of heap calls as people have them, line by line, whatever else stands in the lines between
// (docs/import-formats.md shows each): heaplog, wolfSSL, NuttX, SystemView's heap events, mtrace,
// Mbed's memory trace, and calls as valgrind, ltrace and RIOT print them. The first line that is an
// event tells which of them a log is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "heapfit/trace/builder.hpp"
#include "heapfit/trace/line.hpp"

namespace heapfit {

// Whether a line of these bytes is an event of a heap's log.
[[nodiscard]] bool has_heap_log(std::string_view bytes);

// What a line says of the heap.
struct HeapCall {
    Op op = Op::alloc;
    std::uint64_t old = 0;     // of a resize: the block before; 0 = none
    std::uint64_t address = 0; // 0 = refused; of a free: none
    std::uint64_t size = 0;
    std::uint64_t count = 1; // of such sizes
    std::uint64_t alignment = 0;
    bool is_half = false; // mtrace tells a resize in two lines: this one has the old block alone
};

class HeapLogTrace {
  public:
    explicit HeapLogTrace(OnUnknown on_unknown) : builder_(on_unknown) {}

    void feed(std::string_view chunk);

    // Refuses a log without an allocation.
    void finish();

    [[nodiscard]] TraceBuilder &builder() { return builder_; }
    [[nodiscard]] const TraceHeader &header() const { return header_; }

    // What was passed over, changed or dropped, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    void take(std::string_view line, std::uint64_t number);
    void apply(const HeapCall &call, std::uint64_t number);
    void allocate(const HeapCall &call, std::uint64_t number);
    void release(std::uint64_t address, std::uint64_t number);
    void resize(const HeapCall &call, std::uint64_t number);

    LineSplitter splitter_;
    TraceBuilder builder_;
    TraceHeader header_;
    std::optional<std::size_t> dialect_; // once an event was read
    std::uint64_t old_ = 0;              // of a resize whose second line is to come
    std::unordered_set<std::uint64_t> live_;
    std::uint64_t other_lines_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t given_again_ = 0; // blocks whose free is missing
};

} // namespace heapfit
