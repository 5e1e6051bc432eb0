// SPDX-License-Identifier: Apache-2.0
// Draws one of n outcomes by their weights in constant time: the alias method (Walker 1977), with
// the table filled as Vose 1991 does.
//
//   column       0        1        2          a draw takes a column, all alike, and a number:
//              +----+   +----+   +----+       below the column's limit it is the column's own
//              | 2  |   | 0  |   | 2  |       outcome, else its alias
//       limit  |----|   |----|   |    |
//              | 0  |   | 1  |   |    |
//              +----+   +----+   +----+
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heapfit/random.hpp"

namespace heapfit {

class AliasTable {
  public:
    // Throws Error, which begins with `what`, unless there are 1 to 2^32 - 1 weights, none of them
    // negative or not finite, and their sum is positive and finite.
    AliasTable(std::span<const double> weights, std::string_view what);

    // The number of an outcome. Takes two numbers of `random`.
    [[nodiscard]] std::uint32_t draw(Philox &random) const {
        const auto column = static_cast<std::uint32_t>(random.below(columns_.size()));
        return random.next53() < columns_[column].limit ? column : columns_[column].alias;
    }

    [[nodiscard]] std::size_t size() const { return columns_.size(); }

  private:
    struct Column {
        std::uint64_t limit; // of 2^53
        std::uint32_t alias;
    };
    std::vector<Column> columns_;
};

} // namespace heapfit
