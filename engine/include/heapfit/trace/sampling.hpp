// SPDX-License-Identifier: Apache-2.0
// Sampling a trace whose length is not known: buckets of equally many events that double in width
// when too many.
//
// With a wish for n points a finished series has at least n (if there are that many events) and
// fewer than 2 n.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapfit {

// Lowest and highest value within one bucket of events, so that no peak is lost between two points
// of a plot.
struct Extremes {
    std::uint64_t lowest;
    std::uint64_t highest;

    void include(std::uint64_t value) {
        lowest = std::min(lowest, value);
        highest = std::max(highest, value);
    }
};

// Where the buckets begin and end. Bucket b holds the events from b * width to (b + 1) * width - 1.
class Buckets {
  public:
    // `expected_events`, where known, saves the doublings; 0 where not.
    explicit Buckets(std::size_t points, std::uint64_t expected_events = 0)
        : limit_(2 * std::max<std::size_t>(points, 1)),
          width_(std::max<std::uint64_t>(1, expected_events / std::max<std::size_t>(points, 1))) {}

    [[nodiscard]] std::uint64_t width() const { return width_; }

    // Events left in the current bucket; never 0.
    [[nodiscard]] std::uint64_t room() const { return width_ - filled_; }

    // Notes that `events`, at most room(), were read. True if that filled the bucket.
    [[nodiscard]] bool fill(std::uint64_t events) {
        filled_ += events;
        if (filled_ < width_) {
            return false;
        }
        filled_ = 0;
        closed_++;
        return true;
    }

    // True if events were read since the last full bucket.
    [[nodiscard]] bool is_partly_filled() const { return filled_ > 0; }

    // True if every two buckets must now be joined into one; from then on they count as joined.
    [[nodiscard]] bool must_join() {
        if (closed_ < limit_) {
            return false;
        }
        closed_ /= 2;
        width_ *= 2;
        return true;
    }

  private:
    std::size_t limit_; // even, so that full buckets join without a rest
    std::uint64_t width_;
    std::size_t closed_ = 0;
    std::uint64_t filled_ = 0;
};

// Joins each two neighbours of an even number of extremes.
[[gnu::noinline]] inline void join_neighbours(std::vector<Extremes> &series) {
    for (std::size_t i = 0; i < series.size() / 2; i++) {
        series[i] = series[2 * i];
        series[i].include(series[2 * i + 1].lowest);
        series[i].include(series[2 * i + 1].highest);
    }
    series.resize(series.size() / 2);
}

} // namespace heapfit
