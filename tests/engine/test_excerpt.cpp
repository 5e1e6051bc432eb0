// SPDX-License-Identifier: Apache-2.0
// Excerpts against the sizes of all objects after every event of the whole trace.
#include <algorithm>
#include <map>

#include "check.hpp"
#include "heapfit/trace/excerpt.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::draw;
using heapfit::test::RandomTrace;

namespace {

using Live = std::map<ObjectId, Bytes>;

ExcerptRows excerpt_of(std::span<const Event> events, const std::vector<Window> &windows,
                       std::size_t batch) {
    Excerpt excerpt(windows);
    while (!events.empty()) {
        const std::size_t count = std::min(batch, events.size());
        excerpt.feed(events.first(count));
        events = events.subspan(count);
    }
    return excerpt.finish();
}

// What is live after a row is done.
void do_row(Live &live, const Event &event, Bytes size) {
    if (event.op == Op::free || (event.op == Op::resize && size == 0)) {
        CHECK(live.erase(event.object) == 1);
    } else if (event.op == Op::resize) {
        CHECK(live.contains(event.object));
        live[event.object] = size;
    } else {
        CHECK(live.emplace(event.object, size).second);
    }
}

Bytes bytes_of(const Live &live) {
    Bytes sum = 0;
    for (const auto &[object, size] : live) {
        sum += size;
    }
    return sum;
}

bool is_inside(std::span<const Window> windows, std::uint64_t event) {
    return std::ranges::any_of(
        windows, [event](const Window &one) { return one.first <= event && event < one.end; });
}

Live live_after(const std::vector<std::int64_t> &sizes) {
    Live live;
    for (std::size_t object = 0; object < sizes.size(); object++) {
        if (sizes[object] >= 0) {
            live.emplace(static_cast<ObjectId>(object), static_cast<Bytes>(sizes[object]));
        }
    }
    return live;
}

std::vector<Event> drawn(std::uint64_t seed) {
    return draw(
        RandomTrace{.seed = seed, .events = 600, .live_limit = 20, .sizes = {0, 8, 24, 900}});
}

TEST(windows_find_what_the_whole_trace_has_there) {
    const std::vector<std::vector<Window>> choices = {
        {{100, 160}, {161, 200}, {500, 540}}, {{0, 30}, {30, 60}}, {{590, 600}}, {{250, 251}}, {}};
    for (std::uint64_t seed = 1; seed <= 12; seed++) {
        const std::vector<Event> events = drawn(seed);
        const auto expected = test::sizes_after_each_event(events);
        const std::vector<Window> &windows = choices[seed % choices.size()];
        const ExcerptRows rows = excerpt_of(events, windows, 1 + seed * 7);
        Live live;
        std::size_t row = 0;
        for (std::uint64_t event = 0; event < events.size(); event++) {
            if (row < rows.events.size() && rows.events[row] == event) {
                do_row(live, events[event], rows.sizes[row]);
                CHECK(!is_inside(windows, event) || rows.sizes[row] == events[event].size);
                row++;
            } else {
                CHECK(!is_inside(windows, event));
            }
            const Live whole = live_after(expected[event]);
            CHECK(bytes_of(live) <= bytes_of(whole));
            CHECK(!is_inside(windows, event) || live == whole);
        }
        CHECK(row == rows.events.size());
        CHECK(live == live_after(expected.back()) || is_inside(windows, events.size() - 1));
    }
}

TEST(between_windows_only_what_lives_on_and_what_is_gone_is_left) {
    test::TraceBuilder trace;
    const ObjectId base = trace.alloc(100); // 0: a window
    const ObjectId gone = trace.alloc(50);  // 1
    for (int i = 0; i < 100; i++) {         // 2 to 201: nothing of it is left
        trace.free(trace.alloc(8));
    }
    trace.resize(base, 40);                 // 202
    trace.resize(base, 300);                // 203: passed over
    const ObjectId grown = trace.alloc(16); // 204
    trace.resize(grown, 64);                // 205
    trace.free(gone);                       // 206
    trace.resize(base, 200);                // 207
    trace.alloc(1);                         // 208: a window
    const ExcerptRows rows = excerpt_of(trace.events, {{0, 2}, {208, 209}}, 50);
    CHECK((rows.events == std::vector<std::uint64_t>{0, 1, 202, 204, 205, 206, 207, 208}));
    CHECK((rows.sizes == std::vector<Bytes>{100, 50, 40, 16, 64, 0, 200, 1}));
}

TEST(windows_that_meet_wrongly_are_refused) {
    CHECK_ERROR("apart", Excerpt({{5, 10}, {9, 12}}));
    CHECK_ERROR("not empty", Excerpt({{5, 5}}));
}

TEST(a_bad_event_is_told_by_its_number) {
    test::TraceBuilder trace;
    trace.free(trace.alloc(8));
    Excerpt excerpt({{1, 2}});
    excerpt.feed(trace.events);
    CHECK_ERROR("event 2: ", excerpt.feed(std::span(trace.events).last(1)));
}

} // namespace
