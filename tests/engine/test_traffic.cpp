// SPDX-License-Identifier: Apache-2.0
// Laws of traffic draw what they say, the same on every machine, and refuse what makes no sense.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "check.hpp"
#include "fnv_hash.hpp"
#include "heapfit/workload/traffic.hpp"

namespace {

using namespace heapfit;
using heapfit::test::error_of;

constexpr int draws = 100'000;

bool is_near(double value, double expected, double tolerance) {
    return std::abs(value - expected) <= tolerance * std::abs(expected);
}

struct Moments {
    double mean;
    double square; // mean of the squares
};

template <class Draw> Moments moments_of(Draw draw, int count = draws) {
    Moments moments{0, 0};
    for (int i = 0; i < count; ++i) {
        const auto value = static_cast<double>(draw());
        moments.mean += value / count;
        moments.square += value * value / count;
    }
    return moments;
}

TEST(poisson_intervals_are_exponential) {
    Poisson law(1'000'000);
    Philox random{1}, same{1};
    const Moments moments = moments_of([&] { return law.next(random); });
    CHECK(is_near(moments.mean, 1e6, 0.01) && is_near(moments.square, 2e12, 0.03));
    CHECK(law.next(same) == Philox{1}.exponential(1'000'000));
}

// On half of the time: the mean interval is twice that of the on state. In 10 ms of burst come 100
// arrivals and their number varies as bursts do: index of dispersion far above that of Poisson, 1.
TEST(bursts_have_the_rate_of_on_and_off_together) {
    OnOff law(10'000'000, 10'000'000, 100'000);
    Philox random{2};
    const Moments moments = moments_of([&] { return law.next(random); }, 1'000'000);
    CHECK(is_near(moments.mean, 200'000, 0.02));
    CHECK(moments.square / (moments.mean * moments.mean) > 10);
}

// Three states in a ring, stays of 1, 2 and 1 ms, intervals of 10, 20 and none: in 4 ms come
// 100 + 100 arrivals.
TEST(states_last_and_follow_as_their_weights_say) {
    MarkovModulated law({{10'000, 1'000'000}, {20'000, 2'000'000}, {0, 1'000'000}},
                        {{0, 5, 0}, {0, 0, 1}, {0.5, 0, 0}});
    Philox random{3};
    const Moments moments = moments_of([&] { return law.next(random); }, 1'000'000);
    CHECK(is_near(moments.mean, 20'000, 0.02));
}

TEST(listed_sizes_come_in_turn) {
    ListedSizes law({7, 8, 9});
    Philox random{9};
    for (const Bytes expected : {7, 8, 9, 7, 8, 9, 7}) {
        CHECK(law.draw(random) == expected);
    }
}

TEST(uniform_and_fixed_holding_stay_in_their_range) {
    UniformHolding law(1000, 2000);
    Philox random{11};
    const Moments moments = moments_of([&] {
        const Nanoseconds ns = law.draw(random);
        CHECK(ns >= 1000 && ns <= 2000);
        return ns;
    });
    CHECK(is_near(moments.mean, 1500, 0.005));
    CHECK(FixedHolding(17).draw(random) == 17);
}

// The median of a lognormal number is its mean times e^(-sigma^2 / 2), 0.6065 for sigma 1; the mean
// of the squares is e^(sigma^2) times the square of the mean.
TEST(lognormal_holding_has_its_mean_median_and_variance) {
    LognormalHolding law(1'000'000, 1);
    Philox random{12};
    std::vector<double> values;
    const Moments moments = moments_of([&] {
        values.push_back(static_cast<double>(law.draw(random)));
        return values.back();
    });
    std::ranges::nth_element(values, values.begin() + draws / 2);
    CHECK(is_near(values[draws / 2], 606'531, 0.01) && is_near(moments.mean, 1e6, 0.02));
    CHECK(is_near(moments.square, std::exp(1) * 1e12, 0.15));
    CHECK(LognormalHolding(12345, 0).draw(random) == 12345);
}

TEST(one_server_takes_requests_in_order) {
    FifoService bytes = FifoService::bytes_per_second(1e9); // a byte a nanosecond
    CHECK(bytes.serve(100, 50) == 150);
    CHECK(bytes.serve(110, 30) == 180); // waits for the first
    CHECK(bytes.serve(500, 20) == 520); // the server was idle
    FifoService packets = FifoService::packets_per_second(3e8);
    CHECK(packets.serve(0, 50) == 4);   // 3 1/3 ns, rounded up
    CHECK(packets.serve(0, 9000) == 7); // 6 2/3: nothing drifts
    CHECK(packets.serve(0, 50) == 10);
}

TEST(normal_numbers_have_their_quantiles) {
    Philox random{14};
    int below_minus_1 = 0, below_2 = 0;
    const Moments moments = moments_of([&] {
        const double z = random.normal();
        below_minus_1 += z < -1;
        below_2 += z < 2;
        return z;
    });
    CHECK(std::abs(moments.mean) < 0.01 && is_near(moments.square, 1, 0.02));
    CHECK(is_near(below_minus_1, 0.158655 * draws, 0.02) &&
          is_near(below_2, 0.97725 * draws, 0.002));
}

// The values are those of decimal arithmetic.
TEST(powers_of_e_are_right_to_a_few_units) {
    CHECK(exponential_of(0) == 1);
    CHECK(is_near(exponential_of(1), 2.718281828459045, 4e-16));
    CHECK(is_near(exponential_of(-0.5), 0.6065306597126334, 4e-16));
    CHECK(is_near(exponential_of(45), 3.4934271057485095e19, 4e-16));
    CHECK(is_near(exponential_of(-600), 2.6503965530043109e-261, 4e-16));
}

OfferedRequest next_of(TrafficSource &source) {
    OfferedRequest request{};
    CHECK(source.next(request));
    return request;
}

Traffic poisson_traffic() {
    return Traffic(Poisson(2'000'000), UniformSize(80, 2000), ExponentialHolding(1'000'000'000));
}

// FNV-1a over times, sizes and holdings of the first thousand requests.
std::uint64_t digest_of(const Traffic &traffic) {
    TrafficSource source(traffic, 1);
    heapfit::test::FnvHash digest;
    for (int i = 0; i < 1000; ++i) {
        const OfferedRequest request = next_of(source);
        digest.mix_words(std::array{request.time_ns, request.size, request.holding_ns});
    }
    return digest.value();
}

// Digests of one machine; any other draws the same.
TEST(streams_are_equal_on_every_machine) {
    const ExponentialHolding second(1'000'000'000);
    CHECK(digest_of(poisson_traffic()) == 0x36def767fcaaa224);
    CHECK(digest_of({OnOff(1'000'000, 3'000'000, 10'000), ExponentialSize(8, 400), second}) ==
          0xf051619eedfad635);
    CHECK(digest_of({MarkovModulated({{900, 5000}, {100, 300}}, {{0.3, 0.7}, {1, 0}}),
                     EmpiricalSize({10, 20, 30}, {0.1, 0.7, 0.3}),
                     LognormalHolding(1'000'000'000, 1.5)}) == 0xef8da251a58bbd57);
    CHECK(digest_of({Periodic(1000), BimodalSize(40, 43, 1500, 26), UniformHolding(5, 500)}) ==
          0xc6ce71209d1136d0);
    CHECK(digest_of({Periodic(1000), EmpiricalSize({10, 20, 30}, {2, 0, 1}), second}) ==
          0x87f2e2f25abad23d);
}

// Every second request of two equal periodic streams is the other's; each has its own sizes, and
// the server of one is not kept busy by the other.
TEST(streams_arrive_beside_each_other) {
    const Traffic slow(Periodic(30), ListedSizes({7}), FifoService::packets_per_second(1e7));
    TrafficSource source(
        {Periodic(20), ListedSizes({5}), FixedHolding(4), std::vector<Traffic>{slow}}, 1);
    const std::array<std::array<Nanoseconds, 3>, 6> expected{
        {{20, 5, 24}, {30, 7, 130}, {40, 5, 44}, {60, 5, 64}, {60, 7, 230}, {80, 5, 84}}};
    for (const auto &[time_ns, size, leaves_ns] : expected) {
        const OfferedRequest request = next_of(source);
        CHECK(request.time_ns == time_ns && request.size == size);
        CHECK(source.departure(request) == leaves_ns);
    }
}

TEST(a_stream_beside_changes_no_draw_of_the_others_and_draws_its_own) {
    const Traffic large(Poisson(2'000'000), UniformSize(5000, 6920),
                        ExponentialHolding(1'000'000'000));
    const Traffic small = poisson_traffic();
    TrafficSource alone(small, 7);
    TrafficSource both({small.arrivals, small.sizes, small.holding, {large}}, 7);
    std::vector<Bytes> sizes, beside;
    for (int i = 0; i < 1000; ++i) {
        const OfferedRequest expected = next_of(alone);
        sizes.push_back(expected.size);
        OfferedRequest request = next_of(both);
        for (; request.size >= 5000; request = next_of(both)) {
            beside.push_back(request.size - 4920);
        }
        CHECK(request.time_ns == expected.time_ns && request.size == expected.size);
        CHECK(request.holding_ns == expected.holding_ns);
    }
    CHECK(beside.size() > 850 && beside.size() < 1150);
    beside.resize(1000);
    CHECK(std::inner_product(sizes.begin(), sizes.end(), beside.begin(), 0, std::plus<>(),
                             std::equal_to<>()) < 20);
}

TEST(what_ends_leaves_the_others_to_go_on) {
    const Traffic recorded(RecordedArrivals({5, 15}, {1, 2}, {3, 4}), {}, RecordedHolding{});
    TrafficSource source({Periodic(10), ListedSizes({9}), FixedHolding(1), {recorded}}, 1);
    const std::array<Nanoseconds, 5> times{5, 10, 15, 20, 30};
    for (const Nanoseconds time_ns : times) {
        CHECK(next_of(source).time_ns == time_ns);
    }
}

TEST(each_law_draws_from_a_stream_of_its_own) {
    TrafficSource one(poisson_traffic(), 7);
    TrafficSource other({Periodic(10), UniformSize(80, 2000), FixedHolding(1)}, 7);
    TrafficSource third({Poisson(2'000'000), ListedSizes({8}), ExponentialHolding(1'000'000'000)},
                        7);
    TrafficSource seeded(poisson_traffic(), 8);
    int equal = 0;
    for (int i = 0; i < 100; ++i) {
        const OfferedRequest request = next_of(one);
        const OfferedRequest same = next_of(third);
        CHECK(next_of(other).size == request.size);
        CHECK(same.time_ns == request.time_ns && same.holding_ns == request.holding_ns);
        equal += next_of(seeded).time_ns == request.time_ns;
    }
    CHECK(equal == 0);
}

TEST(recorded_requests_come_as_they_are_and_end) {
    const RecordedArrivals arrivals({0, 5, 5}, {10, 0, 30}, {7, held_forever, 1});
    TrafficSource source({arrivals, std::nullopt, RecordedHolding{}}, 1);
    CHECK(source.departure(next_of(source)) == 7);
    const OfferedRequest second = next_of(source);
    CHECK(second.time_ns == 5 && second.size == 0);
    CHECK(source.departure(second) == held_forever);
    CHECK(next_of(source).size == 30);
    OfferedRequest none{};
    CHECK(!source.next(none));
    TrafficSource again({arrivals, std::nullopt, FixedHolding(2)}, 1);
    CHECK(again.departure(next_of(again)) == 2);
}

TEST(a_long_recording_comes_as_it_is) {
    std::vector<Nanoseconds> times, holdings;
    std::vector<Bytes> sizes;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        times.push_back(3 + i * i);
        sizes.push_back(i % 7);
        holdings.push_back(i % 11 == 0 ? held_forever : i);
    }
    TrafficSource source({RecordedArrivals(times, sizes, holdings), {}, RecordedHolding{}}, 1);
    for (std::size_t i = 0; i < times.size(); ++i) {
        const OfferedRequest request = next_of(source);
        CHECK(request.time_ns == times[i] && request.size == sizes[i]);
        CHECK(request.holding_ns == holdings[i]);
    }
    OfferedRequest none{};
    CHECK(!source.next(none) && !source.next(none));
}

TEST(bad_arrivals_are_refused_by_their_key) {
    CHECK_ERROR("Poisson: mean_ns: 0 ns", Poisson(0));
    CHECK_ERROR("Periodic: interval_ns: ", Periodic(longest_mean + 1));
    CHECK_ERROR("OnOff: off_mean_ns: ", OnOff(1, 0, 1));
    CHECK_ERROR("MarkovModulated: weights: the sum", MarkovModulated({{1, 1}}, {{0}}));
    CHECK_ERROR("MarkovModulated: weights: 2", MarkovModulated({{1, 1}}, {{1, 1}}));
    CHECK_ERROR("MarkovModulated: weights: 2 of them for 1", MarkovModulated({{1, 1}}, {{1}, {1}}));
    CHECK_ERROR("MarkovModulated: interval_mean_ns: from some",
                MarkovModulated({{1, 1}, {0, 1}}, {{0, 1}, {0, 1}}));
    CHECK_ERROR("MarkovModulated: interval_mean_ns: ", MarkovModulated({}, {}));
    CHECK_ERROR("RecordedArrivals: time_ns: entry 1 ", RecordedArrivals({5, 4}, {1, 1}, {}));
    CHECK_ERROR("RecordedArrivals: size: ", RecordedArrivals({5}, {1, 1}, {}));
    CHECK_ERROR("RecordedArrivals: holding_ns: ", RecordedArrivals({5}, {1}, {1, 2}));
    CHECK_ERROR("RecordedArrivals: time_ns: ", RecordedArrivals({}, {}, {}));
    CHECK_ERROR("RecordedArrivals: time_ns: ", RecordedArrivals({1ULL << 63}, {1}, {}));
}

TEST(bad_sizes_are_refused_by_their_key) {
    CHECK_ERROR("UniformSize: least: 0", UniformSize(0, 5));
    CHECK_ERROR("UniformSize: least: 6 is above most 5", UniformSize(6, 5));
    CHECK_ERROR("sizes: 6 to 5", ExponentialSize(6, 5));
    CHECK_ERROR("BimodalSize: ack_percent: ", BimodalSize(40, 60, 1500, 41));
    CHECK_ERROR("BimodalSize: mtu_size: ", BimodalSize(40, 60, 41, 4));
    CHECK_ERROR("EmpiricalSize: weight: -1", EmpiricalSize({1, 2}, {1, -1}));
    CHECK_ERROR("EmpiricalSize: weight: nan", EmpiricalSize({1, 2}, {1, std::nan("")}));
    CHECK_ERROR("EmpiricalSize: weight: there must be", EmpiricalSize({}, {}));
    CHECK_ERROR("EmpiricalSize: weight: 2", EmpiricalSize({1}, {1, 1}));
    CHECK_ERROR("EmpiricalSize: size: 0", EmpiricalSize({0}, {1}));
    CHECK_ERROR("ListedSizes: size: ", ListedSizes({}));
}

TEST(bad_holdings_services_and_traffic_are_refused_by_their_key) {
    CHECK_ERROR("ExponentialHolding: mean_ns: ", ExponentialHolding(0));
    CHECK_ERROR("FixedHolding: ns: ", FixedHolding(longest_mean + 1));
    CHECK_ERROR("UniformHolding: least_ns: 3 is above most_ns 2", UniformHolding(3, 2));
    CHECK_ERROR("LognormalHolding: sigma: ", LognormalHolding(1, -1));
    CHECK_ERROR("LognormalHolding: sigma: nan", LognormalHolding(1, std::nan("")));
    CHECK_ERROR("FifoService: bytes_per_second: 0", FifoService::bytes_per_second(0));
    CHECK_ERROR("FifoService: packets_per_second: -1", FifoService::packets_per_second(-1));
    CHECK_ERROR("EmpiricalHolding: weight: the sum", EmpiricalHolding({1}, {0}));
    CHECK_ERROR("Traffic: sizes: there", Traffic(Poisson(1), std::nullopt, FixedHolding(1)));
    CHECK_ERROR("Traffic: sizes: recorded",
                Traffic(RecordedArrivals({1}, {1}, {}), ListedSizes({1}), FixedHolding(1)));
    CHECK_ERROR("Traffic: holding: ", Traffic(Poisson(1), ListedSizes({1}), RecordedHolding{}));
    CHECK_ERROR("Traffic: holding: ",
                Traffic(RecordedArrivals({1}, {1}, {}), std::nullopt, RecordedHolding{}));
}

TEST(a_rate_may_be_the_slowest_and_the_fastest) {
    (void)FifoService::bytes_per_second(1e-6);
    (void)FifoService::bytes_per_second(1e15);
    CHECK_ERROR("FifoService: bytes_per_second: ",
                FifoService::bytes_per_second(std::nextafter(1e-6, 0)));
    CHECK_ERROR("FifoService: bytes_per_second: ",
                FifoService::bytes_per_second(std::nextafter(1e15, 2e15)));
}

TEST(a_clock_that_would_overflow_is_refused) {
    TrafficSource source({Periodic(longest_mean), ListedSizes({1}), FixedHolding(1)}, 1);
    const std::string error = error_of([&source] {
        for (;;) {
            (void)next_of(source);
        }
    });
    CHECK(error.starts_with("traffic: the clock passes 2^63 ns"));
}

} // namespace
