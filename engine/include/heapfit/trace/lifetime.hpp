// SPDX-License-Identifier: Apache-2.0
// minimalloc's buffers as a trace: comma-separated values whose first line names the columns, in
// any order:
//   id         of the buffer; any text, of one line alone (buffer, buffer_id)
//   lower      when it is first live; whole numbers, taken as microseconds (begin, start)
//   upper      when it is no longer live; above lower (end: the last time at which it is live)
//   size       bytes
//   alignment  a power of two
//   gaps       times between, "3-5 8-9", at which its memory may serve others: the buffer is freed
//              and allocated anew. A gap of a part of it, "3-5@0:4", is passed over and counted
// The last two and id may be left out; offset is passed over, and so are columns of other names,
// which are told. What ends at a time is freed before what begins then is allocated; buffers of one
// time keep the order of the file.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/trace/line.hpp"

namespace heapfit {

class LifetimeLines {
  public:
    enum Column { lower, upper, size, alignment, gaps, id, column_count };

    void take(std::string_view line, std::uint64_t number, TraceBuilder &builder);

    // Only at the end is the order of events known.
    void finish(TraceBuilder &builder);

    // The first thing that was passed over: a column, or gaps of parts; "" if nothing was.
    [[nodiscard]] std::string passed_over() const;

    // What was passed over or taken otherwise, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    struct Buffer {
        Tick lower;
        Tick upper;
        Bytes size;
        Bytes alignment; // 0: the heap's own
        std::uint64_t line;
    };

    void read_columns(std::string_view line, std::uint64_t number);
    [[nodiscard]] std::string_view field(Column column) const;
    [[nodiscard]] std::vector<std::string> losses() const;
    void keep(const Buffer &buffer);
    void split_at_gaps(Buffer buffer);
    void require_different_ids() const;

    std::vector<std::string_view> fields_;           // of the line at hand
    std::array<std::size_t, column_count> places_{}; // of each column among the fields; or absent
    char separator_ = ',';
    std::size_t width_ = 0; // fields of each line; 0 until the header line
    Tick last_ = 0;         // 1 where upper is the last time at which live
    std::vector<Buffer> buffers_;
    std::string ids_;                  // texts, one after the other
    std::vector<std::size_t> id_ends_; // in them, of each line
    std::vector<std::uint64_t> id_lines_;
    UnknownColumns unknown_;
    std::uint64_t with_gaps_ = 0; // buffers
    std::uint64_t part_gaps_ = 0; // passed over
};

using LifetimeTrace = LineTrace<LifetimeLines>;

} // namespace heapfit
