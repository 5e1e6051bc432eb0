// SPDX-License-Identifier: Apache-2.0
// The simulation does what is offered to a real heap, counts it exactly, and agrees with the
// mathematics of queues where there is any.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "check.hpp"
#include "fnv_hash.hpp"
#include "heapfit/replay/meter.hpp"
#include "heapfit/simulate/closed_form.hpp"
#include "heapfit/simulate/simulation.hpp"

namespace {

using namespace heapfit;
constexpr std::uint64_t second = 1'000'000'000;

// Elsayed and Galal, part 2, figure 5.
Traffic figure_5(Nanoseconds mean_ns) {
    return Traffic(Poisson(mean_ns), UniformSize(80, 2000), ExponentialHolding(second));
}

Plan fixed_pool(std::uint64_t blocks, std::uint64_t size = 2048) {
    return Plan("fixed_pool", {{"block_size", size}, {"blocks", blocks}}, {}, {});
}

Plan partitions(const char *name, std::uint64_t size, std::uint64_t count,
                std::uint64_t metadata = 0) {
    Plan::Scalars scalars{{"partition_size", size}, {"partitions", count}};
    if (metadata != 0) {
        scalars["metadata"] = metadata;
    }
    return Plan(name, scalars, {}, {});
}

Simulation on(const Plan &plan, const Traffic &traffic, std::uint64_t seed = 1,
              std::uint64_t region = 0) {
    return Simulation(HostHeap::init(plan, {region != 0 ? region : plan.smallest_region()}),
                      traffic, seed);
}

// Several allocators, each too small for figure 5 at 500 requests a second.
std::vector<Simulation> simulations(const Traffic &traffic) {
    constexpr std::uint64_t region = 300'000;
    std::vector<Simulation> all;
    all.push_back(on(fixed_pool(140), traffic));
    all.push_back(on(partitions("chained_pool", 512, 500), traffic));
    all.push_back(on(partitions("partition_pool", 512, 500), traffic));
    all.push_back(on(partitions("partition_pool", 64, 4000, 1), traffic));
    const Plan tlsf("tlsf", {}, {}, {});
    all.push_back(on(tlsf, traffic, 1, region));
    all.push_back(on(Plan("best_fit", {}, {}, {}), traffic, 1, region));
    all.push_back(on(Plan("class_pools", {}, {{512, 100, false}, {2048, 90, false}}, {}), traffic,
                     1, region));
    all.push_back(on(Plan("budgeted", {}, {{700, 50, true}}, tlsf), traffic, 1, region));
    all.push_back(on(Plan("kingsley", {}, {}, {}), traffic, 1, region));
    return all;
}

struct Interval {
    double mean;
    double half_width;
};

// Of 99 %, from eight independent runs: Student's t of 7 degrees of freedom is 3.499.
Interval admission_of(const Plan &plan, const Traffic &traffic) {
    constexpr int runs = 8;
    double sum = 0, squares = 0;
    for (int run = 0; run < runs; ++run) {
        Simulation simulation = on(plan, traffic, static_cast<std::uint64_t>(run));
        simulation.run(5'000);
        simulation.reset_counts();
        simulation.run(40'000);
        const SimulationCounts counts = simulation.counts();
        const double admission =
            static_cast<double>(counts.admitted) / static_cast<double>(counts.requests);
        sum += admission;
        squares += admission * admission;
    }
    const double mean = sum / runs;
    const double variance = (squares - sum * mean) / (runs - 1);
    return {mean, 3.499 * std::sqrt(variance / runs)};
}

bool holds(const Interval &interval, double value) {
    std::printf("  %.4f +- %.4f, expected %.4f\n", interval.mean, interval.half_width, value);
    return interval.half_width < 0.02 && std::abs(interval.mean - value) <= interval.half_width;
}

TEST(a_fixed_pool_is_an_erlang_loss_system) {
    for (const Nanoseconds mean_ns : {500'000, 2'000'000, 3'000'000}) {
        const double offered = static_cast<double>(second) / static_cast<double>(mean_ns);
        CHECK(holds(admission_of(fixed_pool(272), figure_5(mean_ns)), 1 - erlang_b(272, offered)));
    }
}

// Two classes share 60 partitions (Kaufman 1981).
TEST(a_chained_pool_is_a_link_shared_by_classes) {
    constexpr int units = 60;
    constexpr double offered = 12; // erlangs of each class, of 1 and of 4 units
    const std::vector<double> refused =
        kaufman_roberts(units, std::array<std::uint64_t, 2>{1, 4}, std::array{offered, offered});
    const Traffic traffic(Poisson(second / 24), EmpiricalSize({64, 256}, {1, 1}),
                          ExponentialHolding(second));
    CHECK(holds(admission_of(partitions("chained_pool", 64, units), traffic),
                1 - (refused[0] + refused[1]) / 2));
}

// An M/D/1 queue of room for all: what is in the system follows from Pollaczek and Khinchine,
// load + load^2 / (2 (1 - load)).
TEST(a_served_queue_has_its_mean_length) {
    const Traffic traffic(Poisson(1'000'000), ListedSizes({1500}),
                          FifoService::packets_per_second(1250));
    Simulation simulation = on(fixed_pool(1000), traffic, 3);
    simulation.run(1'000'000);
    const SimulationCounts counts = simulation.counts();
    const double length = counts.live_block_ns / static_cast<double>(counts.time_ns);
    CHECK(counts.admitted == counts.requests);
    CHECK(std::abs(length - 2.4) < 0.05);
}

TEST(contiguous_partitions_admit_what_first_fit_does) {
    struct Point {
        Nanoseconds mean_ns;
        double admission;
    };
    for (const Point &point : {Point{500'000, 0.171}, {2'000'000, 0.752}, {3'000'000, 0.999}}) {
        Simulation simulation =
            on(partitions("partition_pool", 512, 1024, 1), figure_5(point.mean_ns));
        simulation.run(20'000);
        simulation.reset_counts();
        simulation.run(200'000);
        const SimulationCounts counts = simulation.counts();
        const double admission = static_cast<double>(counts.admitted_bytes) /
                                 static_cast<double>(counts.requested_bytes);
        CHECK(std::abs(admission - point.admission) < 0.008);
    }
}

// Three requests by hand: 10 bytes from 0 to 7, 20 from 5 to 10, 30 from 10 on, which is refused
// until the block before it is gone. Blocks hold 64 bytes.
TEST(integrals_and_peaks_are_exact) {
    const Traffic traffic(RecordedArrivals({0, 5, 10, 20}, {10, 20, 30, 0}, {7, 5, 90, 1}),
                          std::nullopt, RecordedHolding{});
    Simulation simulation = on(fixed_pool(2, 64), traffic);
    CHECK(simulation.run(100) == 4 && simulation.run(1) == 0);
    const SimulationCounts counts = simulation.counts();
    CHECK(counts.time_ns == 20 && counts.requests == 4 && counts.admitted == 4);
    CHECK(counts.events == 6 && counts.requested_bytes == 60 && counts.admitted_bytes == 60);
    CHECK(counts.live_byte_ns == 10 * 7 + 20 * 5 + 30 * 10);
    CHECK(counts.live_block_ns == 7 + 5 + 10);
    CHECK(counts.used_byte_ns == 64 * (7 + 5 + 10));
    CHECK(counts.live_peak == 30 && counts.block_peak == 2);
    CHECK(counts.internal_peak == 98); // 128 for 10 + 20, then for 30 + 0
    CHECK(simulation.live_blocks() == 2 && simulation.live() == 30);
}

TEST(what_is_due_at_an_arrival_leaves_before_it) {
    const Traffic traffic(RecordedArrivals({0, 5, 5, 9}, {8, 8, 8, 8}, {5, 4, 4, 1}), std::nullopt,
                          RecordedHolding{});
    Simulation simulation = on(fixed_pool(1, 64), traffic);
    simulation.run(4);
    const SimulationCounts counts = simulation.counts();
    CHECK(counts.admitted == 3); // the second at 5 finds the pool full
    CHECK(counts.refused_by_size[size_bin(8)] == 1 && counts.offered_by_size[size_bin(8)] == 4);
}

// A packet takes 10 ns; those at 1 and 2 are refused, so the one at 25 leaves at 35.
TEST(refused_requests_do_not_queue) {
    const Traffic traffic(RecordedArrivals({0, 1, 2, 25, 35}, {8, 8, 8, 8, 8}, {}), std::nullopt,
                          FifoService::packets_per_second(1e8));
    Simulation simulation = on(fixed_pool(1, 64), traffic);
    simulation.run(5);
    CHECK(simulation.counts().admitted == 3 && simulation.counts().live_block_ns == 20);
}

std::uint64_t sum(const SizeCounts &counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

TEST(counters_add_up_after_every_request_on_every_allocator) {
    for (Simulation &simulation : simulations(figure_5(2'000'000))) {
        const HostHeap &heap = simulation.heap();
        const std::uint64_t misuses = heapfit_counts.misuses;
        for (int i = 0; i < 3000; ++i) {
            CHECK(simulation.run(1) == 1);
            const SimulationCounts counts = simulation.counts();
            const std::uint64_t refused = counts.requests - counts.admitted;
            CHECK(counts.requests == static_cast<std::uint64_t>(i) + 1);
            CHECK(sum(counts.offered_by_size) == counts.requests);
            CHECK(sum(counts.refused_by_size) == refused);
            CHECK(counts.events - counts.requests == counts.admitted - simulation.live_blocks());
            CHECK(simulation.live() <= counts.live_peak && counts.live_peak <= counts.footprint);
            CHECK(sum_blocks(heap).used >= simulation.live());
            CHECK(i % 100 != 0 || heap.plan().operations().check(heap.get(), heap.plan().raw()));
        }
        const SimulationCounts counts = simulation.counts();
        CHECK(counts.admitted < counts.requests && counts.used_byte_ns > counts.live_byte_ns);
        CHECK(heapfit_counts.misuses == misuses);
    }
}

// Every refusal leaves the blocks where they were.
TEST(refusals_change_nothing) {
    const Traffic traffic(Periodic(1000), UniformSize(80, 2000), FixedHolding(longest_mean));
    for (Simulation &simulation : simulations(traffic)) {
        simulation.run(20'000); // the last free byte is taken
        const std::uint64_t live = simulation.live();
        const Bytes used = sum_blocks(simulation.heap()).used;
        simulation.reset_counts();
        simulation.run(1000);
        const SimulationCounts counts = simulation.counts();
        CHECK(counts.admitted == 0 && simulation.live() == live);
        CHECK(sum_blocks(simulation.heap()).used == used);
        CHECK(counts.live_peak == live);
    }
}

TEST(windows_add_up_to_the_whole) {
    Simulation whole = on(fixed_pool(100), figure_5(4'000'000));
    Simulation windows = on(fixed_pool(100), figure_5(4'000'000));
    whole.run(3000);
    std::uint64_t admitted = 0, time_ns = 0;
    double live_byte_ns = 0;
    for (int window = 0; window < 3; ++window) {
        windows.reset_counts();
        windows.run(1000);
        const SimulationCounts counts = windows.counts();
        CHECK(counts.requests == 1000);
        admitted += counts.admitted;
        time_ns += counts.time_ns;
        live_byte_ns += counts.live_byte_ns;
    }
    CHECK(admitted == whole.counts().admitted && time_ns == whole.counts().time_ns);
    CHECK(std::abs(live_byte_ns / whole.counts().live_byte_ns - 1) < 1e-12);
}

// The same simulation, plain and slow: walks the heap at every event.
struct Model {
    HostHeap heap;
    TrafficSource source;
    std::multimap<Nanoseconds, std::pair<void *, Bytes>> departures{};
    Nanoseconds now_ns = 0;
    std::uint64_t admitted = 0;
    Bytes live = 0;
    double live_byte_ns = 0, external_byte_ns = 0;

    void pass(Nanoseconds time_ns) {
        const auto passed_ns = static_cast<double>(time_ns - now_ns);
        const BlockSums blocks = sum_blocks(heap);
        live_byte_ns += static_cast<double>(live) * passed_ns;
        external_byte_ns += static_cast<double>(blocks.external_fragmentation()) * passed_ns;
        now_ns = time_ns;
    }

    void offer_next() {
        const hfit_operations &operations = heap.plan().operations();
        OfferedRequest request{};
        CHECK(source.next(request));
        while (!departures.empty() && departures.begin()->first <= request.time_ns) {
            const auto [block, size] = departures.begin()->second;
            pass(departures.begin()->first);
            operations.free(heap.get(), heap.plan().raw(), block);
            live -= size;
            departures.erase(departures.begin());
        }
        pass(request.time_ns);
        void *const block = operations.alloc(heap.get(), heap.plan().raw(), request.size);
        if (block != nullptr) {
            admitted++;
            live += request.size;
            departures.emplace(source.departure(request), std::pair(block, request.size));
        }
    }
};

// Bursts let the pace of samples swing.
TEST(counts_are_those_of_an_obvious_model_and_samples_estimate_its_average) {
    constexpr int requests = 120'000;
    constexpr std::uint64_t region = 400'000;
    const Plan plan("tlsf", {}, {}, {});
    for (const ArrivalLaw &arrivals :
         {ArrivalLaw(Poisson(2'500'000)), ArrivalLaw(OnOff(second, second, 1'250'000))}) {
        const Traffic traffic(arrivals, UniformSize(80, 2000), ExponentialHolding(second));
        Simulation simulation = on(plan, traffic, 5, region);
        simulation.run(requests);
        Model model{HostHeap::init(plan, {region}), TrafficSource(traffic, 5)};
        for (int i = 0; i < requests; ++i) {
            model.offer_next();
        }
        const SimulationCounts counts = simulation.counts();
        const double exact = model.external_byte_ns / static_cast<double>(counts.time_ns);
        const double sampled = counts.external_byte_ns / counts.sampled_ns;
        std::printf("  external: %.0f B by samples, %.0f B exactly\n", sampled, exact);
        CHECK(counts.admitted == model.admitted && counts.time_ns == model.now_ns);
        CHECK(counts.admitted < counts.requests && simulation.live() == model.live);
        CHECK(std::abs(counts.live_byte_ns / model.live_byte_ns - 1) < 1e-9);
        CHECK(counts.samples > 60 && counts.samples < 240);
        CHECK(std::abs(counts.sampled_ns / static_cast<double>(counts.time_ns) - 1) < 0.3);
        CHECK(std::abs(sampled / exact - 1) < 0.1);
        CHECK(counts.external_peak > sampled && counts.external_peak < region);
    }
}

// Every count of two windows, to the bit: FNV-1a over them, found by a loop that added to the
// integrals at each event and drew one request at a time.
TEST(counts_are_those_of_the_plain_loop) {
    Simulation simulation = on(partitions("partition_pool", 64, 8000, 1), figure_5(2'000'000), 3);
    heapfit::test::FnvHash hash;
    for (int window = 0; window < 2; window++) {
        simulation.run(20'000);
        const auto counts = std::bit_cast<std::array<std::uint64_t, sizeof(SimulationCounts) / 8>>(
            simulation.counts());
        hash.mix_words(counts);
        simulation.reset_counts();
    }
    CHECK(hash.value() == 0xf423a9f35d586f31);
}

// A thousand requests at time 0, then a long time nothing: few walks tell of that.
TEST(samples_are_few_whatever_the_times) {
    std::vector<Nanoseconds> times(10'000, 0);
    times.back() = second << 20;
    const Traffic traffic(RecordedArrivals(times, std::vector<Bytes>(10'000, 8), {}), std::nullopt,
                          FixedHolding(second));
    Simulation simulation = on(fixed_pool(100, 8), traffic);
    simulation.run(10'000);
    CHECK(simulation.counts().samples < 1000);
}

TEST(bins_of_sizes_end_at_their_bounds) {
    for (std::size_t bin = 0; bin + 1 < size_bins; ++bin) {
        CHECK(size_bin(size_bin_bound(bin)) == bin);
        CHECK(size_bin(size_bin_bound(bin) + 1) == bin + 1);
    }
    CHECK(size_bin(0) == 0 && size_bin_bound(size_bins - 1) == Bytes{1} << 32);
    CHECK(size_bin(UINT64_MAX) == size_bins - 1);
}

TEST(the_bare_loop_serves_what_it_has_room_for) {
    Simulation simulation = on(fixed_pool(272), figure_5(2'000'000));
    simulation.run(50'000);
    CHECK(simulate_without_heap(figure_5(2'000'000), 1, 50'000, 272) ==
          simulation.counts().admitted);
}

TEST(requests_no_region_holds_are_refused) {
    const Traffic traffic(RecordedArrivals({1, 2}, {largest_request, 2049}, {}), std::nullopt,
                          FixedHolding(1));
    Simulation simulation = on(fixed_pool(3), traffic);
    CHECK(simulation.run(5) == 2 && simulation.counts().admitted == 0);
}

} // namespace
