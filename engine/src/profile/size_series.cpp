// SPDX-License-Identifier: Apache-2.0
// Follows the live blocks of a few sizes, bucket by bucket.
#include "heapfit/profile/size_series.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

struct SizeSeries::Visitor {
    std::span<Line> sizes;

    bool allocated(std::size_t, const Event &event, Object &object) {
        const auto found = std::ranges::lower_bound(sizes, event.size, {}, &Line::size);
        const bool is_followed = found != sizes.end() && found->size == event.size;
        object.rank =
            static_cast<std::uint32_t>(is_followed ? found - sizes.begin() : std::ssize(sizes));
        return change(object, 1);
    }

    bool freed(std::size_t, const Event &, const Object &object) { return change(object, -1); }

    bool resized(std::size_t i, const Event &event, Object &object) {
        if (object.rank < sizes.size() && sizes[object.rank].size == event.size) {
            return true;
        }
        return freed(i, event, object) && allocated(i, event, object);
    }

  private:
    bool change(const Object &object, int by) {
        if (object.rank < sizes.size()) {
            Line &size = sizes[object.rank];
            size.live += static_cast<std::uint64_t>(by);
            size.bucket.include(size.live);
        }
        return true;
    }
};

SizeSeries::SizeSeries(std::span<const Bytes> sizes, std::size_t samples) : buckets_(samples) {
    for (std::size_t i = 0; i < sizes.size(); i++) {
        sizes_.push_back({sizes[i], i});
    }
    std::ranges::sort(sizes_, {}, &Line::size);
    const auto twin = std::ranges::adjacent_find(sizes_, {}, &Line::size);
    if (twin != sizes_.end()) {
        throw Error("series: the size " + std::to_string(twin->size) + " is given twice");
    }
}

void SizeSeries::feed(std::span<const Event> events) {
    while (!events.empty()) {
        const std::size_t count = std::min<std::uint64_t>(events.size(), buckets_.room());
        Visitor visitor{sizes_};
        follow_all(events.first(count), events_, objects_, visitor);
        events_ += count;
        events = events.subspan(count);
        if (buckets_.fill(count)) {
            close_bucket();
        }
    }
}

void SizeSeries::close_bucket() {
    const bool joins = buckets_.must_join();
    for (Line &size : sizes_) {
        size.series.push_back(size.bucket);
        size.bucket = {size.live, size.live};
        if (joins) {
            join_neighbours(size.series);
        }
    }
}

SizeSeriesResult SizeSeries::result() const {
    SizeSeriesResult result{buckets_.width(), {}};
    result.blocks.resize(sizes_.size());
    for (const Line &size : sizes_) {
        std::vector<Extremes> &series = result.blocks[size.index];
        series = size.series;
        if (buckets_.is_partly_filled()) {
            series.push_back(size.bucket);
        }
    }
    return result;
}

} // namespace heapfit
