// SPDX-License-Identifier: Apache-2.0
// What events change, put together again, against the sizes of all objects after every event.
#include <map>

#include "check.hpp"
#include "heapfit/profile/live_changes.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::draw;
using heapfit::test::RandomTrace;

namespace {

using Blocks = std::map<Bytes, std::uint64_t>;

Blocks blocks_of(std::span<const std::int64_t> sizes) {
    Blocks blocks;
    for (const std::int64_t size : sizes) {
        if (size >= 0) {
            blocks[static_cast<Bytes>(size)]++;
        }
    }
    return blocks;
}

Bytes bytes_of(const Blocks &blocks) {
    Bytes sum = 0;
    for (const auto &[size, count] : blocks) {
        sum += size * count;
    }
    return sum;
}

TEST(rows_put_together_are_the_live_blocks_after_every_event) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        const auto events = draw(RandomTrace{.seed = seed, .sizes = {0, 1, 8, 40, 5000, 70000}});
        const auto expected = test::sizes_after_each_event(events);
        const std::size_t half = events.size() / 2;
        LiveChanges changes;
        LiveChangeColumns rows = changes.feed(std::span(events).first(half));
        const LiveChangeColumns more = changes.feed(std::span(events).subspan(half));
        rows.events.insert(rows.events.end(), more.events.begin(), more.events.end());
        rows.live_bytes.insert(rows.live_bytes.end(), more.live_bytes.begin(),
                               more.live_bytes.end());
        rows.sizes.insert(rows.sizes.end(), more.sizes.begin(), more.sizes.end());
        rows.live_blocks.insert(rows.live_blocks.end(), more.live_blocks.begin(),
                                more.live_blocks.end());
        Blocks now;
        std::size_t row = 0;
        for (std::size_t event = 0; event < events.size(); event++) {
            const std::size_t first = row;
            for (; row < rows.events.size() && rows.events[row] == event; row++) {
                now[rows.sizes[row]] = rows.live_blocks[row];
                CHECK(rows.live_bytes[row] == bytes_of(blocks_of(expected[event])));
            }
            CHECK(row - first == 1 || (row - first == 2 && events[event].op == Op::resize));
            std::erase_if(now, [](const auto &one) { return one.second == 0; });
            CHECK(now == blocks_of(expected[event]));
        }
        CHECK(row == rows.events.size());
    }
}

TEST(a_bad_event_is_told_by_its_number) {
    test::TraceBuilder trace;
    trace.free(trace.alloc(8));
    LiveChanges changes;
    (void)changes.feed(trace.events);
    CHECK_ERROR("event 2: ", changes.feed(std::span(trace.events).last(1)));
}

} // namespace
