// SPDX-License-Identifier: Apache-2.0
// The .rep traces of the CS:APP malloc lab: four numbers, one a line (suggested heap size, number
// of ids, number of operations, weight), then `a id size`, `r id size`, `f id` with ids below their
// number.
#pragma once

#include <array>

#include "heapfit/trace/line.hpp"

namespace heapfit {

class RepLines {
  public:
    void take(std::string_view line, std::uint64_t number, TraceBuilder &builder);

    void finish() const;

    // Where the file ends with fewer operations than its header says; "" if it has them all.
    [[nodiscard]] std::string damage() const;

  private:
    enum Head { heap_size, ids, operations, weight, head_lines };

    std::array<std::uint64_t, head_lines> head_{};
    std::size_t head_read_ = 0;
    std::uint64_t operations_read_ = 0;
};

using RepTrace = LineTrace<RepLines>;

} // namespace heapfit
