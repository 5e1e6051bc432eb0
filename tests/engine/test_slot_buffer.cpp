// SPDX-License-Identifier: Apache-2.0
// The slot buffer benchmark: it counts what it does, stops at a refusal, and tells the free list.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "check.hpp"
#include "heapfit/error.hpp"
#include "heapfit/replay/meter.hpp"
#include "heapfit/simulate/slot_buffer.hpp"

namespace {

using heapfit::HostHeap;
using heapfit::Plan;
using heapfit::SlotBuffer;
using heapfit::SlotWorkload;

constexpr SlotWorkload workload{100, 8, 350, 1};

Plan first_fit(std::uint64_t coalesce) {
    return Plan("first_fit", {{"coalesce", coalesce}, {"header_size", 24}}, {}, {});
}

SlotBuffer buffer_on(const Plan &plan, std::uint64_t region) {
    return SlotBuffer(HostHeap::init(plan, {region}), workload);
}

TEST(counts_of_calls_and_blocks_add_up) {
    SlotBuffer buffer = buffer_on(first_fit(1), 1 << 16);
    CHECK(buffer.run(5000));
    CHECK(buffer.run(5000));
    const auto &counts = buffer.counts();
    CHECK(counts.loops == 10'000 && !counts.refused);
    CHECK(counts.alloc.calls + counts.free.calls == 10'000);
    CHECK(counts.alloc.calls - counts.free.calls == counts.live_blocks);
    CHECK(counts.live >= 8 * counts.live_blocks && counts.live <= 350 * counts.live_blocks);
    CHECK(counts.live_peak >= counts.live && counts.live_peak < (1 << 16));
    CHECK(buffer.usable() >= counts.live);
    CHECK(buffer.usable() < counts.live + 40 * counts.live_blocks);
    CHECK(counts.alloc.worst * counts.alloc.calls >= counts.alloc.accesses);
    CHECK(counts.free.worst > 0 && counts.free.accesses >= counts.free.calls);
}

TEST(a_refusal_ends_the_run_and_is_told) {
    SlotBuffer buffer = buffer_on(first_fit(0), 1 << 16);
    CHECK(!buffer.run(1'000'000));
    const auto loops = buffer.counts().loops;
    CHECK(loops > 1000 && loops < 3000);
    CHECK(buffer.counts().refused >= 8 && buffer.counts().refused <= 350);
    const auto sizes = buffer.free_sizes();
    CHECK(std::ranges::all_of(sizes, [&](auto size) { return size < *buffer.counts().refused; }));
    CHECK(!buffer.run(10) && buffer.counts().loops == loops);
}

TEST(free_and_live_bytes_fit_the_region_on_any_allocator) {
    for (const char *name : {"first_fit", "segregated_fit", "tlsf"}) {
        const Plan plan(name, {}, {}, {});
        SlotBuffer buffer = buffer_on(plan, 1 << 16);
        CHECK(buffer.run(2000));
        const auto sizes = buffer.free_sizes();
        CHECK(!sizes.empty());
        const auto sum = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
        CHECK(sum + buffer.counts().live < 1 << 16);
    }
}

TEST(the_last_block_freed_is_first_on_the_list_of_first_fit) {
    SlotBuffer buffer = buffer_on(first_fit(0), 1 << 16);
    std::uint64_t frees = 0;
    std::vector<std::uint32_t> before = buffer.free_sizes();
    for (int i = 0; i < 200; ++i) {
        CHECK(buffer.run(1));
        const std::vector<std::uint32_t> after = buffer.free_sizes();
        if (buffer.counts().free.calls > frees) {
            frees++;
            CHECK(after.size() == before.size() + 1);
            CHECK(std::equal(before.begin(), before.end(), after.begin() + 1));
        }
        before = after;
    }
    CHECK(frees > 20);
}

TEST(watching_is_not_counted) {
    SlotBuffer buffer = buffer_on(first_fit(1), 1 << 16);
    CHECK(buffer.run(1000));
    const auto before = heapfit_counts;
    (void)buffer.free_sizes();
    (void)buffer.footprint();
    (void)buffer.usable();
    CHECK(heapfit_counts.loads == before.loads && heapfit_counts.stores == before.stores);
}

TEST(the_same_seed_draws_the_same_sizes) {
    const auto sizes = heapfit::draw_sizes(workload, 1000);
    CHECK(sizes == heapfit::draw_sizes(workload, 1000));
    CHECK(sizes != heapfit::draw_sizes({100, 8, 350, 2}, 1000));
}

} // namespace
