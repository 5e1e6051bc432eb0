// SPDX-License-Identifier: Apache-2.0
// Which of the lifetimes placed so far overlap another in time: a tree over all, by their start.
//
// Each node keeps the latest end of what is placed below it, so a search leaves out what has ended
// and what starts later: finding k lifetimes costs about k log n steps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/packing/lifetimes.hpp"

namespace heapfit {

class PlacedLifetimes {
  public:
    // `lifetimes` ascend by `from` and outlive this.
    explicit PlacedLifetimes(std::span<const Lifetime> lifetimes)
        : lifetimes_(lifetimes), leaves_(std::bit_ceil(std::max<std::size_t>(lifetimes.size(), 1))),
          latest_(2 * leaves_) {}

    void place(std::size_t number) {
        const std::uint64_t until = lifetimes_[number].until;
        for (std::size_t node = leaves_ + number; node > 0; node /= 2) {
            latest_[node] = std::max(latest_[node], until);
        }
    }

    // Calls visit(number) for each placed one that is live at some time from `from` to `until`.
    template <typename Visitor>
    void overlapping(std::uint64_t from, std::uint64_t until, Visitor visit) const {
        std::size_t node = 1;
        while (node != 0) {
            const bool is_live = latest_[node] > from && lifetimes_[first_below(node)].from < until;
            if (is_live && node < leaves_) {
                node *= 2;
                continue;
            }
            if (is_live) {
                visit(node - leaves_);
            }
            node = next_after(node);
        }
    }

    void clear() { std::ranges::fill(latest_, 0); }

  private:
    // The lifetime of the leftmost leaf below, or the last one where there is none.
    [[nodiscard]] std::size_t first_below(std::size_t node) const {
        const int levels = std::countl_zero(node) - std::countl_zero(leaves_);
        return std::min((node << levels) - leaves_, lifetimes_.size() - 1);
    }

    // The next node to the right of all below this one, or 0.
    static std::size_t next_after(std::size_t node) {
        node >>= std::countr_one(node);
        return node == 0 ? 0 : node + 1;
    }

    std::span<const Lifetime> lifetimes_;
    std::size_t leaves_;
    std::vector<std::uint64_t> latest_; // of each node, from the root at 1; 0: nothing placed
};

} // namespace heapfit
