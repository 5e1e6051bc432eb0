// SPDX-License-Identifier: Apache-2.0
// The profiling pass: a visitor of `follow`, fed bucket by bucket of the series.
#include "heapfit/profile/profile.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

void throw_too_many_live_bytes(std::uint64_t event) {
    throw Error("event " + std::to_string(event) +
                ": the live bytes reach 2^63 (no program holds as much)");
}

struct Profile::Visitor {
    SizeIndex &sizes;
    std::vector<SizeCount> &all_counts;
    SizeCount *counts; // all_counts.data()
    Lifetimes &lifetimes;
    Totals totals;
    std::uint64_t first; // number of the event at index 0

    bool allocated(std::size_t i, const Event &event, Object &object) {
        totals.operations[static_cast<std::size_t>(event.op)]++;
        SizeCount &count = enter(event.size, first + i, object);
        count.allocations++;
        totals.blocks++;
        totals.blocks_max = std::max(totals.blocks_max, totals.blocks);
        return is_grown_within_limit(first + i);
    }

    bool resized(std::size_t i, const Event &event, Object &object) {
        totals.operations[static_cast<std::size_t>(Op::resize)]++;
        leave(object);
        enter(event.size, object.birth(), object);
        totals.bucket.lowest = std::min(totals.bucket.lowest, totals.live);
        return is_grown_within_limit(first + i);
    }

    bool freed(std::size_t i, const Event &event, Object &object) {
        totals.operations[static_cast<std::size_t>(event.op)]++;
        leave(object);
        totals.blocks--;
        const auto bin = static_cast<std::size_t>(std::bit_width(first + i - object.birth())) - 1;
        lifetimes.objects[bin]++;
        lifetimes.bytes[bin] += object.size;
        totals.bucket.lowest = std::min(totals.bucket.lowest, totals.live);
        return true;
    }

  private:
    SizeCount &enter(Bytes size, std::uint64_t birth, Object &object) {
        const std::uint32_t number = number_of(size);
        object = {size, birth << 24 | number};
        SizeCount &count = counts[number];
        count.peak = std::max(count.peak, ++count.live);
        totals.live += size;
        return count;
    }

    std::uint32_t number_of(Bytes size) {
        const std::uint32_t known = sizes.find(size);
        if (known != SizeIndex::none) [[likely]] {
            return known;
        }
        const std::uint32_t number = sizes.add(size);
        all_counts.resize(sizes.sizes().size());
        counts = all_counts.data();
        return number;
    }

    void leave(const Object &object) {
        counts[object.number()].live--;
        totals.live -= object.size;
    }

    // Live bytes rose, or may have: false if they reached the limit. Few events raise the highest
    // of a bucket, so the rest is seldom looked at.
    bool is_grown_within_limit(std::uint64_t event) {
        if (totals.live <= totals.bucket.highest) [[likely]] {
            return true;
        }
        totals.bucket.highest = totals.live;
        if (totals.live > totals.peak) {
            totals.peak = totals.live;
            totals.peak_event = event;
        }
        return totals.live < live_bytes_limit;
    }
};

Profile::Profile(std::size_t samples) : buckets_(samples) {}

void Profile::feed(std::span<const Event> events) {
    while (!events.empty()) {
        const std::size_t count = std::min<std::uint64_t>(events.size(), buckets_.room());
        feed_bucket(events.first(count));
        events = events.subspan(count);
        if (buckets_.fill(count)) {
            close_bucket();
        }
    }
}

void Profile::feed_bucket(std::span<const Event> events) {
    Visitor visitor{sizes_, counts_, counts_.data(), lifetimes_, totals_, events_};
    const Followed followed = follow(events, objects_, visitor);
    if (followed.is_bad) {
        throw_bad_event(events_ + followed.count, events[followed.count], objects_.next());
    }
    if (followed.count < events.size()) {
        throw_too_many_live_bytes(events_ + followed.count);
    }
    totals_ = visitor.totals;
    events_ += events.size();
}

void Profile::close_bucket() {
    series_.push_back(totals_.bucket);
    totals_.bucket = {totals_.live, totals_.live};
    if (buckets_.must_join()) {
        join_neighbours(series_);
    }
}

ProfileResult Profile::result() const {
    ProfileResult result{events_,
                         totals_.operations,
                         totals_.peak,
                         totals_.peak_event,
                         totals_.blocks_max,
                         totals_.blocks,
                         totals_.live,
                         {},
                         sizes_.is_coarse(),
                         lifetimes_,
                         buckets_.width(),
                         series_};
    for (std::size_t number = 0; number < counts_.size(); number++) {
        const SizeCount &count = counts_[number];
        result.sizes.push_back({sizes_.sizes()[number], count.allocations, count.peak});
    }
    std::ranges::sort(result.sizes, {}, &SizeProfile::size);
    if (buckets_.is_partly_filled()) {
        result.live_bytes.push_back(totals_.bucket);
    }
    return result;
}

} // namespace heapfit
