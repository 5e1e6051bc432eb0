// SPDX-License-Identifier: Apache-2.0
// The table that NuttX's memdump prints of the nodes in use, between other lines of a log:
//      PID        Size    Sequence    Address Callstack
//       35          64          12 0x3c55d4d8 0x2c5b0ef6 0x2c5a9bee
// Which columns there are depends on the version and its settings: the line of their names tells.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "heapfit/trace/log_pattern.hpp"

namespace heapfit {

struct Node {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::uint64_t sequence = 0; // of its allocation; 0 where the table has none
    std::uint64_t task = 0;     // likewise
    Callers callers{};
};

class NodeTable {
  public:
    // The table that a line of names begins, if it is one.
    [[nodiscard]] static std::optional<NodeTable> begun_by(std::string_view line);

    // Keeps the node that a line tells; false if it tells none.
    bool take(std::string_view line);

    // The nodes in the order they were allocated in, or, where the table does not tell it, listed.
    [[nodiscard]] std::vector<Node> nodes() const;

    [[nodiscard]] bool has_order() const { return sequence_.has_value(); }

  private:
    std::size_t size_ = 0; // columns
    std::size_t address_ = 0;
    std::optional<std::size_t> sequence_;
    std::optional<std::size_t> task_;
    std::vector<Node> nodes_;
};

} // namespace heapfit
