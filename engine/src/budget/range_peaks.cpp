// SPDX-License-Identifier: Apache-2.0
// Live blocks are kept as sums from the smallest size up, so a range's count is a difference of
// two. A range is looked at only when a free ends a run of allocations in which it grew.
#include "heapfit/budget/range_peaks.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"
#include "heapfit/trace/follow.hpp"

namespace heapfit {

namespace {

struct RangePeaks {
    std::span<const Bytes> bounds;
    std::vector<std::uint32_t> below; // live blocks of the classes before the i-th
    std::vector<std::uint32_t> peaks; // a row for each first class
    std::size_t grown_first;          // classes that grew since the last look, or none
    std::size_t grown_last = 0;

    explicit RangePeaks(std::span<const Bytes> ascending)
        : bounds(ascending), below(ascending.size() + 1),
          peaks(ascending.size() * ascending.size()), grown_first(ascending.size()) {}

    bool allocated(std::size_t, const Event &event, std::uint32_t &rank) {
        const auto found = std::ranges::lower_bound(bounds, std::max<Bytes>(event.size, 1));
        rank = static_cast<std::uint32_t>(found - bounds.begin());
        if (rank < bounds.size()) {
            change(rank, 1);
            grown_first = std::min<std::size_t>(grown_first, rank);
            grown_last = std::max<std::size_t>(grown_last, rank);
        }
        return true;
    }

    bool freed(std::size_t, const Event &, const std::uint32_t &rank) {
        if (rank < bounds.size()) {
            look();
            change(rank, UINT32_MAX);
        }
        return true;
    }

    bool resized(std::size_t i, const Event &event, std::uint32_t &rank) {
        return freed(i, event, rank) && allocated(i, event, rank);
    }

    // Raises the peaks of the ranges that may have grown: those that reach into the grown classes.
    void look() {
        const std::size_t count = bounds.size();
        for (std::size_t first = 0; grown_first < count && first <= grown_last; first++) {
            const std::uint32_t before = below[first];
            std::uint32_t *row = &peaks[first * count];
            for (std::size_t last = std::max(first, grown_first); last < count; last++) {
                row[last] = std::max(row[last], below[last + 1] - before);
            }
        }
        grown_first = count;
        grown_last = 0;
    }

  private:
    // Adds to a class, by unsigned wrap: UINT32_MAX takes one away.
    void change(std::size_t rank, std::uint32_t by) {
        for (std::size_t i = rank + 1; i < below.size(); i++) {
            below[i] += by;
        }
    }
};

} // namespace

std::vector<std::uint32_t> range_peaks(std::span<const Event> events,
                                       std::span<const Bytes> bounds) {
    if (std::ranges::adjacent_find(bounds, std::ranges::greater_equal{}) != bounds.end()) {
        throw Error("range peaks: the bounds do not ascend");
    }
    RangePeaks ranges(bounds);
    ObjectTable<std::uint32_t> objects;
    follow_all(events, 0, objects, ranges);
    ranges.look();
    return std::move(ranges.peaks);
}

} // namespace heapfit
