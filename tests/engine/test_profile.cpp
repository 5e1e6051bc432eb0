// SPDX-License-Identifier: Apache-2.0
// The profile against the obvious model: all sizes of all objects after every event.
#include <algorithm>
#include <map>

#include "check.hpp"
#include "heapfit/profile/profile.hpp"
#include "heapfit/profile/u_max.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::error_of;
using heapfit::test::RandomTrace;

namespace {

ProfileResult profile_of(std::span<const Event> events, std::size_t samples = 100) {
    Profile profile(samples);
    profile.feed(events);
    return profile.result();
}

// U(t), and P_i(t) by size, after every event.
struct Model {
    std::vector<Bytes> live_bytes;
    std::vector<std::uint64_t> live_blocks;
    std::map<Bytes, std::uint64_t> peaks;

    explicit Model(std::span<const Event> events) {
        for (const auto &sizes : test::sizes_after_each_event(events)) {
            std::map<Bytes, std::uint64_t> counts;
            live_bytes.push_back(0);
            live_blocks.push_back(0);
            for (const std::int64_t size : sizes) {
                if (size >= 0) {
                    live_bytes.back() += static_cast<Bytes>(size);
                    live_blocks.back()++;
                    counts[static_cast<Bytes>(size)]++;
                }
            }
            for (const auto &[size, count] : counts) {
                peaks[size] = std::max(peaks[size], count);
            }
        }
    }
};

TEST(live_bytes_and_peaks_are_those_of_the_model) {
    for (std::uint64_t seed = 1; seed <= 20; seed++) {
        const auto events = draw(RandomTrace{.seed = seed, .sizes = {0, 1, 8, 40, 5000, 70000}});
        const Model model(events);
        const ProfileResult result = profile_of(events);
        const auto highest = std::ranges::max_element(model.live_bytes);
        CHECK(result.u_max == *highest && u_max_of(events) == *highest);
        CHECK(result.u_max_event == static_cast<std::uint64_t>(highest - model.live_bytes.begin()));
        CHECK(result.live_blocks_max == *std::ranges::max_element(model.live_blocks));
        CHECK(result.never_freed == model.live_blocks.back());
        CHECK(result.never_freed_bytes == model.live_bytes.back());
        CHECK(result.sizes.size() == model.peaks.size());
        for (const SizeProfile &size : result.sizes) {
            CHECK(size.peak == model.peaks.at(size.size));
        }
        CHECK(std::ranges::is_sorted(result.sizes, {}, &SizeProfile::size));
    }
}

TEST(the_series_encloses_every_value_of_live_bytes) {
    const auto events = draw(RandomTrace{.seed = 3, .events = 10007});
    const Model model(events);
    const ProfileResult result = profile_of(events, 50);
    CHECK(result.live_bytes.size() >= 50 && result.live_bytes.size() < 100);
    CHECK((events.size() + result.bucket_width - 1) / result.bucket_width ==
          result.live_bytes.size());
    for (std::size_t b = 0; b < result.live_bytes.size(); b++) {
        const std::size_t begin = b * result.bucket_width;
        const std::size_t end = std::min<std::size_t>(begin + result.bucket_width, events.size());
        Bytes lowest = begin == 0 ? 0 : model.live_bytes[begin - 1];
        Bytes highest = lowest;
        for (std::size_t t = begin; t < end; t++) {
            lowest = std::min(lowest, model.live_bytes[t]);
            highest = std::max(highest, model.live_bytes[t]);
        }
        CHECK(result.live_bytes[b].lowest == lowest);
        CHECK(result.live_bytes[b].highest == highest);
    }
}

TEST(feeding_in_pieces_changes_nothing) {
    const auto events = draw(RandomTrace{.seed = 5, .events = 5000});
    const ProfileResult whole = profile_of(events);
    Profile pieces(100);
    for (std::size_t i = 0; i < events.size(); i += 13) {
        pieces.feed(std::span(events).subspan(i, std::min<std::size_t>(13, events.size() - i)));
    }
    const ProfileResult result = pieces.result();
    CHECK(result.u_max == whole.u_max && result.u_max_event == whole.u_max_event);
    CHECK(result.live_bytes.size() == whole.live_bytes.size());
    CHECK(result.lifetimes.objects == whole.lifetimes.objects);
}

TEST(lifetimes_are_counted_in_events_by_octave) {
    test::TraceBuilder trace;
    const ObjectId brief = trace.alloc(10);
    trace.free(brief); // lives 1 event
    const ObjectId longer = trace.alloc(20);
    trace.alloc(1);
    trace.alloc(1);
    trace.resize(longer, 30);
    trace.alloc(1);
    trace.free(longer); // lives 5 events, and is 30 bytes at its end
    const ProfileResult result = profile_of(trace.events);
    CHECK(result.lifetimes.objects[0] == 1 && result.lifetimes.bytes[0] == 10);
    CHECK(result.lifetimes.objects[2] == 1 && result.lifetimes.bytes[2] == 30);
    CHECK(result.never_freed == 3);
}

TEST(allocations_count_requests_and_resizes_only_peaks) {
    test::TraceBuilder trace;
    const ObjectId object = trace.zeroed(16);
    trace.resize(object, 64);
    trace.aligned(16, 4);
    const ProfileResult result = profile_of(trace.events);
    CHECK(result.sizes.size() == 2);
    CHECK(result.sizes[0].size == 16 && result.sizes[0].allocations == 2);
    CHECK(result.sizes[0].peak == 1);
    CHECK(result.sizes[1].size == 64 && result.sizes[1].allocations == 0);
    CHECK(result.sizes[1].peak == 1);
    CHECK((result.operations == std::array<std::uint64_t, op_count>{0, 1, 1, 1, 0}));
}

TEST(an_empty_trace_has_an_empty_profile) {
    const ProfileResult result = profile_of({});
    CHECK(result.events == 0 && result.u_max == 0 && result.sizes.empty());
    CHECK(result.live_bytes.empty());
}

TEST(more_sizes_than_are_kept_are_counted_coarsely) {
    test::TraceBuilder trace;
    const std::size_t extra = 5000;
    for (Bytes size = 1; size <= SizeIndex::exact_limit + extra; size++) {
        trace.free(trace.alloc(size));
    }
    const ProfileResult result = profile_of(trace.events);
    CHECK(result.is_coarse);
    CHECK(result.sizes.size() < SizeIndex::exact_limit + 1000);
    std::uint64_t allocations = 0;
    for (const SizeProfile &size : result.sizes) {
        allocations += size.allocations;
    }
    CHECK(allocations == SizeIndex::exact_limit + extra);
    CHECK(result.u_max == SizeIndex::exact_limit + extra);
}

TEST(live_bytes_of_2_to_the_63_are_refused) {
    test::TraceBuilder trace;
    for (int i = 0; i < 1 << 16; i++) {
        trace.alloc(largest_request);
    }
    const std::string told = "event 65535: the live bytes reach 2^63 (no program holds as much)";
    CHECK(error_of([&] { (void)profile_of(trace.events); }) == told);
    CHECK(error_of([&] { (void)u_max_of(trace.events); }) == told);
}

TEST(u_max_alone_is_refused_where_a_profile_is) {
    const Event resized_too_late{8, 0, Op::resize, 0, 0};
    for (const Event &bad : {Event{8, 0, Op::alloc, 0, 0}, Event{8, 3, Op::alloc, 0, 0},
                             Event{0, 1, Op::free, 0, 0}, resized_too_late}) {
        test::TraceBuilder trace;
        trace.free(trace.alloc(8));
        trace.events.push_back(bad);
        const std::string told = error_of([&] { (void)profile_of(trace.events); });
        CHECK(!told.empty() && error_of([&] { (void)u_max_of(trace.events); }) == told);
    }
}

} // namespace
