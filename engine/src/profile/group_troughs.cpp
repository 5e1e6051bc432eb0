// SPDX-License-Identifier: Apache-2.0
// Follows the live bytes of groups, window by window.
#include "heapfit/profile/group_troughs.hpp"

#include <algorithm>
#include <utility>

#include "heapfit/error.hpp"

namespace heapfit {

struct GroupTroughs::Visitor {
    std::span<Group> groups;
    std::span<const std::uint32_t> group_of;
    bool is_late;
    bool is_old;

    bool allocated(std::size_t i, const Event &event, Object &object) {
        object = {event.size, group_of[i], is_late, is_old};
        groups[object.group].live += object.size;
        return true;
    }

    bool freed(std::size_t, const Event &, const Object &object) {
        Group &group = groups[object.group];
        group.live -= object.size;
        group.trough = std::min(group.trough, group.live);
        return true;
    }

    // The new block first: a resize within its group is no trough.
    bool resized(std::size_t i, const Event &event, Object &object) {
        const Object old = object;
        return allocated(i, event, object) && freed(i, event, old);
    }
};

GroupTroughs::GroupTroughs(const WindowCut &cut) : cut_(cut) {
    if (cut.events == 0) {
        throw Error("windows: a window has no event");
    }
}

void GroupTroughs::feed(std::span<const Event> events, std::span<const std::uint32_t> group_of) {
    if (group_of.size() != events.size()) {
        throw Error("windows: an event has no group");
    }
    if (!group_of.empty()) {
        const std::size_t groups = std::size_t{std::ranges::max(group_of)} + 1;
        groups_.resize(std::max(groups_.size(), groups));
    }
    while (!events.empty()) {
        const std::size_t count = std::min<std::uint64_t>(events.size(), room());
        const bool is_late = events_ >= cut_.first;
        const bool is_old = is_late && events_ < cut_.first + cut_.windows / 2 * cut_.events;
        Visitor visitor{groups_, group_of, is_late, is_old};
        follow_all(events.first(count), events_, objects_, visitor);
        events_ += count;
        events = events.subspan(count);
        group_of = group_of.subspan(count);
        if (events_ >= cut_.first && room() == cut_.events) {
            close_window();
        }
    }
}

// Events up to the next end of a window.
std::uint64_t GroupTroughs::room() const {
    if (events_ < cut_.first) {
        return cut_.first - events_;
    }
    return cut_.events - (events_ - cut_.first) % cut_.events;
}

void GroupTroughs::close_window() {
    const bool is_counted = events_ > cut_.first && troughs_.size() < cut_.windows;
    std::vector<std::uint64_t> row;
    row.reserve(groups_.size());
    for (Group &group : groups_) {
        row.push_back(group.trough);
        group.trough = group.live;
    }
    if (is_counted) {
        troughs_.push_back(std::move(row));
    }
}

GroupTroughsResult GroupTroughs::result() const {
    const std::size_t groups = groups_.size();
    const std::size_t windows = troughs_.size();
    GroupTroughsResult result{
        windows, std::vector<std::uint64_t>(groups * windows), std::vector<std::uint64_t>(groups),
        std::vector<std::uint64_t>(groups), std::vector<std::uint64_t>(groups)};
    for (std::size_t window = 0; window < windows; window++) {
        for (std::size_t group = 0; group < troughs_[window].size(); group++) {
            result.troughs[group * windows + window] = troughs_[window][group];
        }
    }
    objects_.for_each_live([&](const Object &object) {
        result.held[object.group] += object.is_late ? object.size : 0;
        result.held_blocks[object.group] += object.is_late ? 1U : 0U;
        result.held_long[object.group] += object.is_old ? object.size : 0;
    });
    return result;
}

} // namespace heapfit
