// SPDX-License-Identifier: Apache-2.0
// The profiling pass: a visitor of `follow`, fed bucket by bucket of the series.
#include "heapfit/profile/profile.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "heapfit/compiler.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

void throw_too_many_live_bytes(std::uint64_t event) {
    throw Error("event " + std::to_string(event) +
                ": the live bytes reach 2^63 (no program holds as much)");
}

struct Profile::Visitor {
    Profile &profile;
    SizeCount *counts; // profile.counts_.data()
    Totals totals;
    Stamp stamp; // of the last event, then of the one at hand

    bool allocated(std::size_t, const Event &event, Object &object) {
        stamp += one_event;
        profile.operations_[static_cast<std::size_t>(event.op)]++;
        const Bytes size = event.size;
        const std::uint32_t number = number_of(size);
        object.size = size;
        counts[number].allocations++; // between the two stores, which are dearer as one
        object.birth_and_number = stamp - number_mask + number;
        counts[number].live.rise();
        totals.blocks.rise();
        return enter(size);
    }

    bool resized(std::size_t, const Event &event, Object &object) {
        stamp += one_event;
        profile.operations_[static_cast<std::size_t>(Op::resize)]++;
        const Bytes size = event.size;
        const std::uint32_t number = number_of(size);
        counts[object.birth_and_number & number_mask].live.fall();
        counts[number].live.rise();
        totals.bucket.below += object.size;
        object = {size, (object.birth_and_number & ~number_mask) | number};
        const bool goes_on = enter(size);
        sink();
        return goes_on;
    }

    bool freed(std::size_t, const Event &event, const Object &object) {
        stamp += one_event;
        if (event.op != Op::free) [[unlikely]] {
            profile.operations_[static_cast<std::size_t>(event.op)]++;
        }
        const Bytes size = object.size;
        counts[object.birth_and_number & number_mask].live.fall();
        totals.blocks.fall();
        const std::size_t bin = lifetime_bin(object);
        profile.lifetimes_.objects[bin]++;
        profile.lifetimes_.bytes[bin] += size;
        totals.bucket.below += size;
        sink();
        return true;
    }

  private:
    std::uint32_t number_of(Bytes size) {
        const std::uint32_t known = profile.sizes_.find(size);
        if (known != SizeIndex::none) [[likely]] {
            return known;
        }
        const std::uint32_t number = profile.add_size(size);
        counts = profile.counts_.data();
        return number;
    }

    // floor(log2) of the events that it lived, at least 1: no event frees what it allocates. The
    // number below the birth takes no event off the difference.
    [[nodiscard]] std::size_t lifetime_bin(const Object &object) const {
        const Stamp lived = stamp - object.birth_and_number;
        assume(lived != 0);
        return (63U ^ static_cast<unsigned>(std::countl_zero(lived))) - number_bits;
    }

    // Live bytes fell, or may have.
    void sink() {
        if (totals.bucket.below > totals.bucket.most_below) [[unlikely]] {
            totals.bucket.most_below = totals.bucket.below;
        }
    }

    // Live bytes rise: false if they reach the limit.
    bool enter(Bytes size) {
        if (size <= totals.bucket.below) [[likely]] {
            totals.bucket.below -= size;
            return true;
        }
        const Bytes added = size - totals.bucket.below;
        totals.bucket = {totals.bucket.highest + added, 0, totals.bucket.most_below + added};
        if (totals.bucket.highest > totals.peak) {
            totals.peak = totals.bucket.highest;
            totals.peak_event = stamp >> number_bits;
        }
        return totals.bucket.highest < live_bytes_limit;
    }
};

Profile::Profile(std::size_t samples) : buckets_(samples) {}

void Profile::feed(std::span<const Event> events) {
    Visitor visitor{*this, counts_.data(), totals_, (events_ << number_bits) - 1};
    while (!events.empty()) {
        const std::size_t count = std::min<std::uint64_t>(events.size(), buckets_.room());
        const Followed followed = follow(events.first(count), objects_, visitor);
        if (followed.is_bad) {
            throw_bad_event(events_ + followed.count, events[followed.count], objects_.next());
        }
        if (followed.count < count) {
            throw_too_many_live_bytes(events_ + followed.count);
        }
        events_ += count;
        events = events.subspan(count);
        if (buckets_.fill(count)) {
            series_.push_back(visitor.totals.bucket.extremes());
            visitor.totals.bucket = {visitor.totals.bucket.live(), 0, 0};
            if (buckets_.must_join()) [[unlikely]] {
                join_neighbours(series_);
            }
        }
    }
    totals_ = visitor.totals;
}

// Out of the loop, which has no register to spare.
[[gnu::noinline]] std::uint32_t Profile::add_size(Bytes size) {
    const std::uint32_t number = sizes_.add(size);
    counts_.resize(sizes_.sizes().size());
    return number;
}

ProfileResult Profile::result() const {
    const Bytes live = totals_.bucket.live();
    ProfileResult result{events_,
                         operations_,
                         totals_.peak,
                         totals_.peak_event,
                         totals_.blocks.most,
                         totals_.blocks.most - totals_.blocks.below,
                         live,
                         {},
                         sizes_.is_coarse(),
                         lifetimes_,
                         buckets_.width(),
                         series_};
    const std::uint64_t others =
        std::accumulate(operations_.begin(), operations_.end(), std::uint64_t{0});
    result.operations[static_cast<std::size_t>(Op::free)] = events_ - others;
    for (std::size_t number = 0; number < counts_.size(); number++) {
        const SizeCount &count = counts_[number];
        result.sizes.push_back({sizes_.sizes()[number], count.allocations, count.live.most});
    }
    std::ranges::sort(result.sizes, {}, &SizeProfile::size);
    if (buckets_.is_partly_filled()) {
        result.live_bytes.push_back(totals_.bucket.extremes());
    }
    return result;
}

} // namespace heapfit
