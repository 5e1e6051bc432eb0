// SPDX-License-Identifier: Apache-2.0
// The text form of a trace, one event a line, fields between blanks; [] may be missing, from the
// right:
//   a id size [dt tid site]          allocate; c: zeroed        f id [dt tid]          free
//   m id size alignment [dt tid site]  aligned                  r id size [dt tid site]  resize
// dt = microseconds since the previous event, tid = thread from 1, site = up to 8 hex digits. Lines
// that begin with # tell name, source and pointer_bits. Lines that begin with another word are what
// a program prints beside its events.
#pragma once

#include "heapfit/trace/line.hpp"

namespace heapfit {

class TextLines {
  public:
    void take(std::string_view line, std::uint64_t number, TraceBuilder &builder);
    void finish() const {}

    // The first line that was passed over; "" if none was.
    [[nodiscard]] std::string passed_over() const;

    // How many were.
    [[nodiscard]] std::vector<std::string> notes() const;

  private:
    std::uint64_t time_ = 0;
    std::uint64_t other_lines_ = 0;
    std::uint64_t first_other_ = 0; // its number
};

using TextTrace = LineTrace<TextLines>;

} // namespace heapfit
