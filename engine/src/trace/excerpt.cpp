// SPDX-License-Identifier: Apache-2.0
// Two visitors of `follow`: one keeps all that it sees, the other what a window will find.
#include "heapfit/trace/excerpt.hpp"

#include <algorithm>
#include <utility>

#include "heapfit/error.hpp"

namespace heapfit {

struct Excerpt::InWindow {
    Excerpt &excerpt;

    bool allocated(std::size_t i, const Event &event, Object &object) {
        const std::uint64_t number = keep(i, event);
        object = {number, number, number, event.size, event.size};
        return true;
    }

    bool resized(std::size_t i, const Event &event, Object &object) {
        object.resized = keep(i, event);
        object.size = event.size;
        return true;
    }

    bool freed(std::size_t i, const Event &event, const Object &) {
        keep(i, event);
        return true;
    }

  private:
    std::uint64_t keep(std::size_t i, const Event &event) {
        excerpt.keep({excerpt.events_ + i, event.size});
        return excerpt.events_ + i;
    }
};

struct Excerpt::InGap {
    Excerpt &excerpt;

    bool allocated(std::size_t i, const Event &event, Object &object) {
        const std::uint64_t number = excerpt.events_ + i;
        object = {number, number, number, event.size, event.size};
        return true;
    }

    bool resized(std::size_t i, const Event &event, Object &object) {
        const std::uint64_t number = excerpt.events_ + i;
        const bool is_first = object.born < excerpt.gap_ && object.resized < excerpt.gap_;
        object.first_resized = is_first ? number : object.first_resized;
        object.least = is_first ? event.size : std::min(object.least, event.size);
        object.resized = number;
        object.size = event.size;
        return true;
    }

    bool freed(std::size_t i, const Event &, const Object &object) {
        if (object.born < excerpt.gap_) {
            if (object.resized >= excerpt.gap_) {
                excerpt.changes_.push_back({object.first_resized, object.least});
            }
            excerpt.changes_.push_back({excerpt.events_ + i, 0});
        }
        return true;
    }
};

Excerpt::Excerpt(std::vector<Window> windows) : windows_(std::move(windows)) {
    std::uint64_t end = 0;
    for (const Window &window : windows_) {
        if (window.first < end || window.end <= window.first) {
            throw Error("windows of an excerpt are in order, not empty and apart");
        }
        end = window.end;
    }
}

void Excerpt::feed(std::span<const Event> events) {
    while (!events.empty()) {
        const bool is_last = next_ == windows_.size();
        const bool is_inside = !is_last && events_ >= windows_[next_].first;
        std::uint64_t count = events.size();
        if (!is_last) {
            const Window &window = windows_[next_];
            count = std::min(count, (is_inside ? window.end : window.first) - events_);
        }
        const auto part = events.first(count);
        is_inside ? feed_window(part) : feed_gap(part);
        events = events.subspan(count);
    }
}

void Excerpt::feed_gap(std::span<const Event> events) {
    InGap visitor{*this};
    follow_all(events, events_, objects_, visitor);
    events_ += events.size();
}

void Excerpt::feed_window(std::span<const Event> events) {
    if (events_ == windows_[next_].first) {
        close_gap();
    }
    InWindow visitor{*this};
    follow_all(events, events_, objects_, visitor);
    events_ += events.size();
    if (events_ == windows_[next_].end) {
        gap_ = events_;
        next_++;
    }
}

void Excerpt::keep(Row row) {
    rows_.events.push_back(row.event);
    rows_.sizes.push_back(row.size);
}

// What of a block that lives on has changed in the gap.
void Excerpt::keep_changes(const Object &object) {
    const bool is_new = object.born >= gap_;
    if (!is_new && object.resized < gap_) {
        return;
    }
    changes_.push_back({is_new ? object.born : object.first_resized, object.least});
    if (object.size != object.least) {
        changes_.push_back({object.resized, object.size});
    }
}

void Excerpt::close_gap() {
    if (gap_ < events_) {
        objects_.for_each_live([this](const Object &object) { keep_changes(object); });
    }
    std::ranges::sort(changes_, {}, &Row::event);
    for (const Row &row : changes_) {
        keep(row);
    }
    changes_.clear();
}

ExcerptRows Excerpt::finish() {
    const bool is_inside = next_ < windows_.size() && events_ > windows_[next_].first;
    if (!is_inside) {
        close_gap();
    }
    return std::move(rows_);
}

} // namespace heapfit
