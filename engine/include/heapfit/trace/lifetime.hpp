// SPDX-License-Identifier: Apache-2.0
// minimalloc's buffers as a trace: comma-separated values whose first line names the columns, in
// any order:
//   id      of the buffer; any text
//   lower   when it is first live; whole numbers, taken as microseconds
//   upper   when it is no longer live; above lower
//   size    bytes
// Columns of other names, such as offset, are passed over. What ends at a time is freed before what
// begins then is allocated; buffers of one time keep the order of the file.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/trace/line.hpp"

namespace heapfit {

class LifetimeLines {
  public:
    enum Column { lower, upper, size, column_count };

    void take(std::string_view line, std::uint64_t number, TraceBuilder &builder);

    // Only at the end is the order of events known.
    void finish(TraceBuilder &builder);

  private:
    struct Buffer {
        Tick lower;
        Tick upper;
        Bytes size;
        std::uint64_t line;
    };

    void read_columns(std::string_view line, std::uint64_t number);

    std::vector<std::string_view> fields_;           // of the line at hand
    std::array<std::size_t, column_count> places_{}; // of each column among the fields
    std::size_t width_ = 0;                          // fields of each line; 0 until the header line
    std::vector<Buffer> buffers_;
};

using LifetimeTrace = LineTrace<LifetimeLines>;

} // namespace heapfit
