// SPDX-License-Identifier: Apache-2.0
#include "packing/placing_in_time.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>

namespace heapfit {

namespace {

// Free bytes below the top: by place, and by size or place again as the fit has it.
class Holes {
  public:
    explicit Holes(Fit fit) : fit_(fit) {}

    Bytes take(Bytes size) {
        const auto found = find(size);
        if (found == by_place_.end()) {
            return take_top(size);
        }
        const auto [begin, free] = *found;
        remove(found);
        if (free > size) {
            add(begin + size, free - size);
        }
        return begin;
    }

    void give(Bytes begin, Bytes size) {
        const auto next = by_place_.lower_bound(begin);
        if (next != by_place_.end() && next->first == begin + size) {
            size += next->second;
            remove(next);
        }
        const auto after = by_place_.lower_bound(begin);
        if (after != by_place_.begin()) {
            const auto last = std::prev(after);
            if (last->first + last->second == begin) {
                begin = last->first;
                size += last->second;
                remove(last);
            }
        }
        if (begin + size == top_) {
            top_ = begin;
        } else {
            add(begin, size);
        }
    }

  private:
    using ByPlace = std::map<Bytes, Bytes>;

    // First fit looks at few holes: the lowest often fit, and a step limit hands over to best fit.
    ByPlace::iterator find(Bytes size) {
        constexpr int most_steps = 64;
        auto hole = by_place_.begin();
        for (int i = 0; fit_ == Fit::first && i < most_steps && hole != by_place_.end(); i++) {
            if (hole->second >= size) {
                return hole;
            }
            ++hole;
        }
        const auto smallest = by_size_.lower_bound({size, 0});
        return smallest == by_size_.end() ? by_place_.end() : by_place_.find(smallest->second);
    }

    Bytes take_top(Bytes size) {
        const Bytes begin = top_;
        top_ += size;
        return begin;
    }

    void add(Bytes begin, Bytes size) {
        by_place_.emplace(begin, size);
        by_size_.emplace(size, begin);
    }

    void remove(ByPlace::iterator hole) {
        by_size_.erase({hole->second, hole->first});
        by_place_.erase(hole);
    }

    Fit fit_;
    Bytes top_ = 0;
    ByPlace by_place_;
    std::set<std::pair<Bytes, Bytes>> by_size_;
};

} // namespace

std::vector<Bytes> place_in_time(std::span<const Lifetime> lifetimes, Fit fit) {
    using End = std::pair<std::uint64_t, std::size_t>;
    std::priority_queue<End, std::vector<End>, std::greater<>> live;
    std::vector<Bytes> offsets(lifetimes.size());
    Holes holes(fit);
    for (std::size_t i = 0; i < lifetimes.size(); i++) {
        while (!live.empty() && live.top().first <= lifetimes[i].from) {
            const std::size_t ended = live.top().second;
            live.pop();
            holes.give(offsets[ended], lifetimes[ended].size);
        }
        offsets[i] = holes.take(lifetimes[i].size);
        live.emplace(lifetimes[i].until, i);
    }
    return offsets;
}

} // namespace heapfit
