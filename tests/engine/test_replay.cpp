// SPDX-License-Identifier: Apache-2.0
// Replay on the registered allocators: the rules, the metering, and what a refusal does.
#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "check.hpp"
#include "fnv_hash.hpp"
#include "heapfit/replay/replay.hpp"
#include "random_trace.hpp"

using namespace heapfit;
using heapfit::test::error_of;
using heapfit::test::RandomTrace;

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

Plan tlsf() {
    return Plan("tlsf", {}, {}, {});
}

// Without tunables; ten blocks of 40 before a TLSF heap where an allocator takes pools over
// another.
Plan plain(const hfit_allocator &allocator) {
    const bool has_pools =
        allocator.tunable_count > 0 &&
        std::any_of(allocator.tunables, allocator.tunables + allocator.tunable_count,
                    [](const hfit_tunable &t) { return t.kind == HFIT_SHARED; });
    return has_pools ? Plan(allocator.name, {}, {{40, 10, true}}, tlsf())
                     : Plan(allocator.name, {}, {}, {});
}

Plan one_pool(std::uint64_t blocks, Bytes size) {
    return Plan("class_pools", {}, {{size, blocks, true}}, {});
}

Replay replay_of(const Plan &plan, std::uint64_t region, const ReplayOptions &options = {}) {
    return Replay(HostHeap::init(plan, {region}), options);
}

// False for pools of blocks that the largest request does not fit.
bool serves(const Plan &plan, Bytes largest) {
    const HostHeap heap = HostHeap::init(plan, {mebibyte});
    return plan.operations().alloc(heap.get(), plan.raw(), largest) != nullptr;
}

TEST(every_allocator_that_takes_any_size_serves_a_random_trace) {
    const auto events = draw(RandomTrace{.events = 5000});
    std::uint64_t live_peak = 0;
    Bytes live = 0;
    for (const auto &sizes : test::sizes_after_each_event(events)) {
        live = 0;
        for (const std::int64_t size : sizes) {
            live += size > 0 ? static_cast<Bytes>(size) : 0;
        }
        live_peak = std::max(live_peak, live);
    }
    const Bytes largest = std::ranges::max(events, {}, &Event::size).size;
    std::size_t served = 0;
    for (const hfit_allocator *const allocator : registered_allocators()) {
        const Plan plan = plain(*allocator);
        if (!serves(plan, largest)) {
            continue;
        }
        served++;
        Replay replay = replay_of(plan, mebibyte);
        CHECK(replay.feed(events));
        const ReplayResult result = replay.result();
        CHECK(result.events == events.size());
        CHECK(result.allocations + result.frees + result.resizes == events.size());
        CHECK(result.live_peak == live_peak);
        CHECK(result.footprint >= live_peak && result.footprint <= mebibyte);
        CHECK(result.loads > events.size() / 2 && result.stores > events.size() / 2);
        CHECK(!result.failure && result.refusals == 0);
    }
    CHECK(served >= registered_allocators().size() - 2); // all but fixed_pool and static_pools
}

// A thread's next heap lies where its last one lay.
TEST(what_an_earlier_heap_left_in_a_region_changes_no_placement) {
    const auto events = draw(RandomTrace{.events = 5000});
    for (const hfit_allocator *const allocator : registered_allocators()) {
        const Plan plan = plain(*allocator);
        std::set<std::uint64_t> hashes;
        std::set<const void *> regions;
        for (const int left : {0x00, 0xa5, 0xff}) {
            std::memset(HostHeap::init(plan, {mebibyte}).get(), left, mebibyte);
            HostHeap heap =
                HostHeap::init(plan, {mebibyte - 8}); // a smaller region, the same pages
            regions.insert(heap.get());
            Replay replay(std::move(heap), {.keep_going = true});
            CHECK(replay.feed(events));
            hashes.insert(replay.result().placement_hash);
        }
        CHECK(hashes.size() == 1 && regions.size() == 1);
    }
}

TEST(the_hash_is_fnv_1a_over_the_offsets) {
    test::TraceBuilder trace;
    trace.alloc(8);
    trace.alloc(8);
    const Plan plan = one_pool(2, 8);
    Replay replay = replay_of(plan, mebibyte);
    CHECK(replay.feed(trace.events));
    const std::uint64_t first = plan.pools()[0].base;
    test::FnvHash hash;
    hash.mix_words(std::array{first, first + 8});
    CHECK(replay.result().placement_hash == hash.value());
}

// FNV-1a over what a replay counts and where it places: in a region that serves all, and in one
// that refuses and goes on.
std::uint64_t digest_of_replays(const Plan &plan) {
    test::FnvHash digest;
    const auto events = draw(RandomTrace{.seed = 9, .events = 5000, .live_limit = 300});
    for (const std::uint64_t region : {std::uint64_t{1} << 18, std::uint64_t{60'000}}) {
        Replay replay = replay_of(plan, region, {.samples = 10, .keep_going = true});
        CHECK(replay.feed(events));
        const ReplayResult result = replay.result();
        digest.mix_words(std::array<std::uint64_t, 16>{
            result.events, result.allocations, result.frees, result.resizes, result.live_peak,
            result.footprint, result.height, result.loads, result.stores, result.payload,
            result.refusals, result.failure ? result.failure->event : 0, result.internal_peak,
            result.external_peak, result.placement_hash, replay.live()});
    }
    return digest.value();
}

// Digests of the day when counts were one addition an access and words were looked at one by one.
// One changes where an allocator places or accesses otherwise; then say so.
TEST(counts_and_placements_are_those_that_they_were) {
    const auto bits = [](std::uint64_t fit) {
        return Plan("partition_pool", {{"partition_size", 16}, {"metadata", 1}, {"fit", fit}}, {},
                    {});
    };
    CHECK(digest_of_replays(tlsf()) == 0xacb87e47ef2055e1);
    CHECK(digest_of_replays(Plan("best_fit", {}, {}, {})) == 0x2b4454deb6b7622f);
    CHECK(digest_of_replays(bits(0)) == 0xe4fb4dafb8b25a04);
    CHECK(digest_of_replays(bits(1)) == 0x3190158171a8a3aa);
}

TEST(a_refusal_ends_the_replay_and_names_the_event) {
    test::TraceBuilder trace;
    trace.alloc(8);
    trace.alloc(8);
    trace.alloc(7);
    trace.free(0);
    Replay replay = replay_of(one_pool(2, 8), mebibyte);
    CHECK(!replay.feed(trace.events));
    CHECK(!replay.feed(trace.events)); // nothing more is done
    const ReplayResult result = replay.result();
    CHECK(result.events == 2 && result.refusals == 1);
    CHECK(result.failure->event == 2 && result.failure->size == 7);
}

TEST(after_a_refusal_the_heap_is_as_the_refused_request_found_it) {
    test::TraceBuilder trace;
    for (int i = 0; i < 3; i++) {
        trace.alloc(64);
    }
    trace.free(1);
    trace.alloc(65);
    Replay replay = replay_of(one_pool(3, 64), mebibyte);
    CHECK(!replay.feed(trace.events));
    CHECK(replay.live() == 128);
    CHECK(replay.blocks().used == 128);
    CHECK(replay.blocks().free == 64);
    CHECK(replay.blocks().largest_free == 64);
}

TEST(keep_going_passes_over_objects_that_were_refused) {
    test::TraceBuilder trace;
    const ObjectId kept = trace.alloc(8);
    const ObjectId refused = trace.alloc(8);
    trace.resize(refused, 4);
    trace.free(refused);
    trace.free(kept);
    trace.alloc(8);
    trace.alloc(8);
    Replay replay = replay_of(one_pool(1, 8), mebibyte, {.keep_going = true});
    CHECK(replay.feed(trace.events));
    const ReplayResult result = replay.result();
    CHECK(result.refusals == 2 && result.failure->event == 1);
    CHECK(replay.refusals() == std::vector<std::uint64_t>({1, 6}));
    CHECK(result.frees == 1 && result.resizes == 0 && result.events == 7);
    CHECK(result.live_peak == 8);
}

TEST(a_failed_resize_keeps_the_old_block) {
    test::TraceBuilder trace;
    const ObjectId object = trace.alloc(8);
    trace.resize(object, 1000);
    trace.free(object);
    trace.alloc(8);
    Replay replay = replay_of(one_pool(1, 8), mebibyte, {.keep_going = true});
    CHECK(replay.feed(std::span(trace.events).first(1)));
    CHECK(replay.feed(std::span(trace.events).subspan(1)));
    CHECK(replay.refusals() == std::vector<std::uint64_t>{1});
    CHECK(replay.result().refusals == 1 && replay.result().frees == 1);
    CHECK(replay.result().failure->size == 1000);
}

// Of two blocks of 8 B one is always taken: by the old block, until the new one is there.
TEST(a_move_takes_a_new_block_and_keeps_the_old_one_if_there_is_none) {
    test::TraceBuilder trace;
    const ObjectId object = trace.alloc(8);
    trace.resize(object, 6);
    trace.resize(object, 8);
    const ObjectId other = trace.alloc(8);
    trace.resize(object, 5);
    trace.free(other);
    trace.resize(object, 4);
    trace.free(object);
    trace.alloc(8);
    trace.alloc(8);
    for (Event &event : trace.events) {
        event.tag = event.op == Op::resize ? 1 : 0;
    }
    Replay replay = replay_of(one_pool(2, 8), mebibyte, {.keep_going = true});
    CHECK(replay.feed(trace.events));
    const ReplayResult result = replay.result();
    CHECK(replay.refusals() == std::vector<std::uint64_t>{4});
    CHECK(result.payload == 6 + 6 + 4);
    CHECK(result.resizes == 4 && result.frees == 2 && result.live_peak == 16);
    CHECK(replay.live() == 16);
}

TEST(a_request_of_0_bytes_takes_a_block_and_adds_no_live_bytes) {
    test::TraceBuilder trace;
    trace.alloc(0);
    trace.alloc(0);
    Replay replay = replay_of(one_pool(1, 8), mebibyte);
    CHECK(!replay.feed(trace.events));
    CHECK(replay.result().live_peak == 0);
}

TEST(zeroed_bytes_count_as_payload) {
    test::TraceBuilder trace;
    trace.zeroed(100);
    trace.alloc(100);
    Replay replay = replay_of(tlsf(), mebibyte);
    CHECK(replay.feed(trace.events));
    CHECK(replay.result().payload == 100);
}

TEST(bytes_copied_by_a_resize_count_as_payload) {
    test::TraceBuilder trace;
    const ObjectId object = trace.alloc(100);
    trace.alloc(8); // in the way of growing in place
    trace.resize(object, 5000);
    Replay replay = replay_of(tlsf(), mebibyte);
    CHECK(replay.feed(trace.events));
    CHECK(replay.result().payload >= 100);
}

TEST(samples_change_no_count_and_no_placement) {
    const auto events = draw(RandomTrace{.seed = 4, .events = 5000});
    Replay plain = replay_of(tlsf(), mebibyte);
    Replay sampled = replay_of(tlsf(), mebibyte, {.samples = 100});
    CHECK(plain.feed(events) && sampled.feed(events));
    const ReplayResult a = plain.result();
    const ReplayResult b = sampled.result();
    CHECK(a.loads == b.loads && a.stores == b.stores && a.payload == b.payload);
    CHECK(a.placement_hash == b.placement_hash && a.footprint == b.footprint);
    CHECK(a.series.empty());
    CHECK(b.series.size() >= 100 && b.series.size() < 200);
    CHECK(b.series.back().event == events.size());
}

TEST(samples_measure_fragmentation_by_hand_counted_blocks) {
    // Three blocks of 8 bytes in a pool of four, the middle one freed.
    test::TraceBuilder trace;
    trace.alloc(8);
    const ObjectId middle = trace.alloc(5);
    trace.alloc(3);
    trace.free(middle);
    Replay replay = replay_of(one_pool(4, 8), mebibyte, {.samples = 4});
    CHECK(replay.feed(trace.events));
    const std::vector<ReplaySample> series = replay.result().series;
    CHECK(series.size() == 4);
    CHECK(series[2].live == 16 && series[2].internal == 3 + 5);
    CHECK(series[3].live == 11 && series[3].internal == 5);
    CHECK(series[2].external == 0); // one free block
    CHECK(series[3].external == 8); // two that are not one
    CHECK(replay.result().internal_peak == 8 && replay.result().external_peak == 16);
}

TEST(aligned_requests_lie_where_they_ask) {
    test::TraceBuilder trace;
    trace.alloc(1);
    trace.aligned(100, 8);
    Replay small_base = replay_of(tlsf(), mebibyte);
    CHECK(error_of([&] { small_base.feed(trace.events); }) ==
          "event 1: alignment 2^8 is above the region's (give the largest of the trace as base "
          "alignment)");
    Replay replay(HostHeap::init(tlsf(), {mebibyte, 256}));
    CHECK(replay.feed(trace.events));
}

TEST(a_base_alignment_above_the_page_size_is_kept) {
    for (const std::uint64_t alignment : {4096u, 1u << 16, 1u << 21}) {
        const HostHeap heap = HostHeap::init(tlsf(), {mebibyte, alignment});
        CHECK(reinterpret_cast<std::uintptr_t>(heap.get()) % alignment == 0);
    }
}

TEST(the_host_gives_its_base_alignment_where_less_is_asked_for) {
    for (const std::uint64_t asked : {0u, 1u, 8u, 16u}) {
        CHECK(HostHeap::init(tlsf(), {mebibyte, asked}).base_alignment() == host_base_alignment);
    }
    CHECK(HostHeap::init(tlsf(), {mebibyte, 64}).base_alignment() == 64);
    const std::string told = error_of([] { (void)HostHeap::init(tlsf(), {mebibyte, 48}); });
    CHECK(told == "region: base alignment 48 is not 0 or a power of two up to 2^32");
}

TEST(a_plan_tells_whether_a_request_may_go_on_to_another_pool) {
    const std::vector<PoolSpec> two = {{64, 1, true}, {128, 1, true}};
    CHECK(!tlsf().tries_other_pools());
    CHECK(Plan("class_pools", {}, two, {}).tries_other_pools());
    CHECK(!Plan("class_pools", {{"overflow", 2}}, two, {}).tries_other_pools());
    CHECK(!one_pool(1, 64).tries_other_pools());
}

TEST(a_region_too_small_is_told_with_the_smallest) {
    const std::string told = error_of([] { (void)HostHeap::init(tlsf(), {64}); });
    CHECK(told == "region: 64 bytes do not make a heap of tlsf (at least " +
                      std::to_string(tlsf().smallest_region()) + " bytes and less than 4 GiB do)");
}

TEST(a_region_of_4_gib_is_refused) {
    CHECK(!HostHeap::try_init(tlsf(), {std::uint64_t{1} << 32}));
    CHECK(HostHeap::try_init(tlsf(), {(std::uint64_t{1} << 32) - 8}));
}

TEST(a_bad_trace_is_told_by_event) {
    test::TraceBuilder trace;
    trace.alloc(8);
    trace.free(0);
    trace.free(0);
    Replay replay = replay_of(tlsf(), mebibyte);
    CHECK_ERROR("event 2: object 0 is freed after it was freed", replay.feed(trace.events));
}

} // namespace
