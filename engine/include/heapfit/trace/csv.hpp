// SPDX-License-Identifier: Apache-2.0
// A trace as comma-separated values. The first line names the columns, in any order:
//   op      alloc (malloc), zeroed (calloc), aligned (memalign, aligned_alloc, posix_memalign),
//           resize (realloc), free
//   object  the caller's id of the object (decimal, or 0x and hex); free to name another once freed
//   size    bytes; ignored for free
//   and optionally alignment, time (us, or a column ms), thread, site (decimal or 0x...); an empty
//           cell there is 0;
//   needs   bits of what the request needs (docs/evidence/schemas.md)
//   served  bits of what the memory offers that it was served in
// Fields may be quoted, a free may lack fields from the right, and 24.0 is 24, as tools write it
// that keep whole numbers with gaps as fractions; a time may have decimals. Lines that begin with #
// tell name, source and pointer_bits. Other columns are passed over.
//
// A table of calls that a program printed has names of its own (csv.cpp): function, pointer, bytes,
// ms. Its objects are addresses, hexadecimal without 0x, too, and 0 is no block; what its events
// lack is counted, as of logs.
#pragma once

#include <array>

#include "heapfit/trace/line.hpp"

namespace heapfit {

class CsvLines {
  public:
    enum Column {
        op,
        object,
        size,
        alignment,
        time,
        thread,
        site,
        needs,
        served,
        old, // of a resize that a program printed: the block before
        column_count
    };

    void take(std::string_view line, std::uint64_t number, TraceBuilder &builder);
    void finish() const;

    // The first column that was passed over; "" if none was.
    [[nodiscard]] std::string passed_over() const {
        return unknown_.notes().empty() ? "" : unknown_.notes().front();
    }

    // The columns that were passed over and the requests that were refused, one sentence each.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    [[nodiscard]] bool has_column(Column column) const;
    void read_columns(std::uint64_t number);
    template <class Number> [[nodiscard]] Number number_in(Column column, std::uint64_t line) const;
    [[nodiscard]] std::uint64_t time_of(std::uint64_t line);
    void add_call(Request request, std::uint64_t number, TraceBuilder &builder);

    std::vector<Column> columns_; // of each field; empty until the header line
    UnknownColumns unknown_;      // column_count in columns_
    char separator_ = ',';
    bool is_printed_ = false;              // by a program that ran, whose objects are addresses
    std::uint64_t time_unit_ = 1;          // us
    std::uint64_t refused_ = 0;            // requests
    std::vector<std::string_view> fields_; // of the line at hand
    std::array<std::string_view, column_count + 1> cells_; // the same by column
};

using CsvTrace = LineTrace<CsvLines>;

// Whether a table's first line names the columns of a trace, or of calls that a program printed.
[[nodiscard]] bool names_calls(std::string_view header);

} // namespace heapfit
