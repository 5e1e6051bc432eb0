// SPDX-License-Identifier: Apache-2.0
// Sizes are fixed in descending order, most blocks first. With some fixed, the slack left at each
// point limits the others twice: each alone, N_j <= P_j(t) + left(t) / S_j; and together, since
// what is live at t costs nothing there:
//
//   sum of S_j N_j <= sum of S_j min(limit_j, P_j(t)) + left(t)        for every t
#include "heapfit/budget/search.hpp"

#include <algorithm>
#include <numeric>

namespace heapfit {

namespace {

using Count = std::int64_t;

class Search {
  public:
    explicit Search(const BudgetPoints &points)
        : classes_(points.sizes.size()), points_(points.slacks.size()), order_(classes_),
          frames_(classes_ + 1), left_((classes_ + 1) * points_), counts_(classes_),
          best_(classes_) {
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        std::ranges::stable_sort(order_, std::ranges::greater{},
                                 [&](std::size_t i) { return points.sizes[i]; });
        for (const std::size_t i : order_) {
            sizes_.push_back(points.sizes[i]);
            caps_.push_back(points.caps[i]);
            unit_ = std::gcd(unit_, points.sizes[i]);
        }
        for (std::size_t i = 0; i < classes_; i++) {
            for (std::size_t point = 0; point < points_; point++) {
                live_.push_back(points.row(point)[order_[i]]);
            }
        }
        std::ranges::copy(points.slacks, left_.begin());
    }

    BudgetSearch run(std::uint64_t node_limit) {
        open(0);
        while (!is_exhausted_ && (nodes_ < node_limit || !has_leaf_)) {
            step();
        }
        return result();
    }

  private:
    const Count *live_of(std::size_t i) const { return live_.data() + i * points_; }

    // One size about to be fixed, those before it being fixed.
    struct Frame {
        std::int64_t size;
        std::int64_t dedicated; // by the sizes before
        std::int64_t rest;      // the most that the sizes after this one can add
        std::int64_t bound;     // the most of any budgets that begin like these
        Count next;             // the count to try next, descending
        Count lowest;           // fewer blocks relieve no point
    };

    void step() {
        if (depth_ == classes_) {
            note_leaf();
        } else if (has_next(frames_[depth_])) {
            nodes_++;
            take(depth_++);
            open(depth_);
            return;
        }
        is_exhausted_ = depth_ == 0;
        depth_ -= is_exhausted_ ? 0 : 1;
    }

    // Limits of the sizes from `depth` on, each alone.
    void find_limits(std::size_t depth) {
        const std::int64_t *left = left_.data() + depth * points_;
        limits_.assign(caps_.begin(), caps_.end());
        for (std::size_t i = depth; i < classes_; i++) {
            const std::int64_t size = sizes_[i];
            const Count *live = live_of(i);
            Count limit = caps_[i];
            for (std::size_t point = 0; point < points_; point++) {
                if (size * (limit - live[point]) > left[point]) {
                    limit = live[point] + left[point] / size;
                }
            }
            limits_[i] = limit;
        }
    }

    // The most that the sizes from `first` on can dedicate together within the slack at `depth`.
    std::int64_t most_together(std::size_t depth, std::size_t first) {
        const std::int64_t *left = left_.data() + depth * points_;
        std::int64_t most = 0;
        together_.assign(left, left + points_);
        for (std::size_t i = first; i < classes_; i++) {
            most += sizes_[i] * limits_[i];
            for (std::size_t point = 0; point < points_; point++) {
                together_[point] += sizes_[i] * std::min(limits_[i], live_of(i)[point]);
            }
        }
        for (const std::int64_t together : together_) {
            most = std::min(most, together);
        }
        return most / unit_ * unit_;
    }

    void open(std::size_t depth) {
        if (depth == classes_) {
            return;
        }
        Frame &frame = frames_[depth];
        frame.size = sizes_[depth];
        frame.dedicated =
            depth == 0 ? 0 : frames_[depth - 1].dedicated + sizes_[depth - 1] * counts_[depth - 1];
        find_limits(depth);
        frame.bound = frame.dedicated + most_together(depth, depth);
        frame.rest = most_together(depth, depth + 1);
        frame.next = limits_[depth];
        const Count *live = live_of(depth);
        frame.lowest = frame.next;
        for (std::size_t point = 0; point < points_; point++) {
            frame.lowest = std::min(frame.lowest, live[point]);
        }
    }

    // Whether a count is left that may lead to more than the best.
    bool has_next(const Frame &frame) const {
        return frame.next >= frame.lowest && most_left(frame) > best_dedicated_;
    }

    static std::int64_t most_left(const Frame &frame) {
        return std::min(frame.bound, frame.dedicated + frame.size * frame.next + frame.rest);
    }

    // Fixes the next count of the size at `depth`: what it has unused at a point is slack no more.
    void take(std::size_t depth) {
        const Count count = frames_[depth].next--;
        counts_[depth] = count;
        const std::int64_t *left = left_.data() + depth * points_;
        std::int64_t *after = left_.data() + (depth + 1) * points_;
        const Count *live = live_of(depth);
        for (std::size_t point = 0; point < points_; point++) {
            after[point] = left[point] - sizes_[depth] * std::max<Count>(0, count - live[point]);
        }
    }

    void note_leaf() {
        std::int64_t dedicated = 0;
        for (std::size_t i = 0; i < classes_; i++) {
            dedicated += sizes_[i] * counts_[i];
        }
        if (dedicated > best_dedicated_) {
            best_dedicated_ = dedicated;
            best_ = counts_;
        }
        has_leaf_ = true;
    }

    BudgetSearch result() const {
        BudgetSearch found;
        found.nodes = nodes_;
        found.counts.resize(classes_);
        for (std::size_t i = 0; i < classes_; i++) {
            found.counts[order_[i]] = static_cast<std::uint64_t>(best_[i]);
        }
        std::int64_t bound = best_dedicated_;
        for (std::size_t depth = 0; !is_exhausted_ && depth <= depth_ && depth < classes_;
             depth++) {
            if (has_next(frames_[depth])) {
                bound = std::max(bound, most_left(frames_[depth]));
            }
        }
        found.dedicated = static_cast<std::uint64_t>(best_dedicated_);
        found.bound = static_cast<std::uint64_t>(bound);
        return found;
    }

    std::size_t classes_;
    std::size_t points_;
    std::vector<std::size_t> order_; // of the classes: largest size first
    std::vector<std::int64_t> sizes_;
    std::vector<Count> caps_;
    std::vector<Count> live_; // P of each class, point by point
    std::int64_t unit_ = 0;   // every sum of sizes is a multiple of it
    std::vector<Frame> frames_;
    std::vector<std::int64_t> left_; // slack of each point, by depth
    std::vector<Count> counts_;
    std::vector<Count> limits_;
    std::vector<std::int64_t> together_;
    std::vector<Count> best_;
    std::int64_t best_dedicated_ = -1;
    std::size_t depth_ = 0; // of the size fixed next
    std::uint64_t nodes_ = 0;
    bool has_leaf_ = false;
    bool is_exhausted_ = false;
};

} // namespace

BudgetSearch search_budgets(const BudgetPoints &points, std::uint64_t node_limit) {
    return Search(points).run(node_limit);
}

} // namespace heapfit
