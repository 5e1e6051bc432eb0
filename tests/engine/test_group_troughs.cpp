// SPDX-License-Identifier: Apache-2.0
// Troughs of groups and what they hold, against the sizes of all objects after every event.
#include <algorithm>

#include "check.hpp"
#include "heapfit/profile/group_troughs.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::draw;
using heapfit::test::RandomTrace;

namespace {

constexpr std::size_t groups = 3;

// The group of a size: that of its block, also after a resize.
std::uint32_t group_of_size(std::int64_t size) {
    return size < 8 ? 0 : size < 5000 ? 1 : 2;
}

std::uint64_t live_of(std::span<const std::int64_t> sizes, std::uint32_t group) {
    std::uint64_t sum = 0;
    for (const std::int64_t size : sizes) {
        if (size >= 0 && group_of_size(size) == group) {
            sum += static_cast<std::uint64_t>(size);
        }
    }
    return sum;
}

using Sizes = std::vector<std::vector<std::int64_t>>; // of all objects, after each event

std::uint64_t trough_of(const Sizes &sizes, const WindowCut &cut, std::size_t window,
                        std::uint32_t group) {
    const std::size_t first = cut.first + window * cut.events;
    std::uint64_t least = live_of(sizes[first - 1], group);
    for (std::size_t event = first; event < first + cut.events; event++) {
        least = std::min(least, live_of(sizes[event], group));
    }
    return least;
}

// Live bytes at the end of objects that were born, or resized, from `first` on.
std::uint64_t held_of(std::span<const Event> events, const Sizes &sizes, std::uint64_t first,
                      std::uint32_t group) {
    std::vector<std::int64_t> late(sizes.back().size(), -1);
    for (const Event &event : events.subspan(first)) {
        late[event.object] = sizes.back()[event.object];
    }
    return live_of(late, group);
}

void check_groups(std::span<const Event> events) {
    const Sizes sizes = test::sizes_after_each_event(events);
    std::vector<std::uint32_t> group_of;
    for (const Event &event : events) {
        group_of.push_back(group_of_size(static_cast<std::int64_t>(event.size)));
    }
    const WindowCut cut{.first = events.size() / 7, .events = events.size() / 9, .windows = 5};
    GroupTroughs pass(cut);
    const std::size_t half = events.size() / 2;
    pass.feed(events.first(half), std::span(group_of).first(half));
    pass.feed(events.subspan(half), std::span(group_of).subspan(half));
    const GroupTroughsResult found = pass.result();
    CHECK(found.windows == cut.windows);
    for (std::uint32_t group = 0; group < groups; group++) {
        const std::uint64_t held = held_of(events, sizes, cut.first, group);
        const std::uint64_t middle = cut.first + cut.windows / 2 * cut.events;
        CHECK(found.held[group] == held);
        CHECK(found.held_long[group] == held - held_of(events, sizes, middle, group));
        for (std::size_t window = 0; window < cut.windows; window++) {
            CHECK(found.troughs[group * cut.windows + window] ==
                  trough_of(sizes, cut, window, group));
        }
    }
}

TEST(troughs_and_what_is_held_are_those_of_the_objects) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        check_groups(draw(RandomTrace{.seed = seed, .sizes = {0, 1, 8, 40, 5000, 70000}}));
    }
}

TEST(an_event_without_a_group_is_refused) {
    test::TraceBuilder trace;
    (void)trace.alloc(8);
    GroupTroughs pass({.first = 0, .events = 1, .windows = 1});
    CHECK_ERROR("windows: an event has no group", pass.feed(trace.events, {}));
}

} // namespace
