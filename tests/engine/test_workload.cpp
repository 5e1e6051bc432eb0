// SPDX-License-Identifier: Apache-2.0
// Workloads are what they are said to be, and the same on every machine.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "check.hpp"
#include "fnv_hash.hpp"
#include "heapfit/workload/workload.hpp"

namespace {

using namespace heapfit;
using heapfit::test::error_of;

TraceColumns whole(const char *name, const WorkloadValues &given = {}, std::uint64_t seed = 1) {
    return WorkloadSource(name, given, seed).take(SIZE_MAX);
}

bool allocates(const TraceColumns &trace, std::size_t i) {
    return trace.op[i] == static_cast<std::uint8_t>(Op::alloc);
}

bool frees(const TraceColumns &trace, std::size_t i) {
    return trace.op[i] == static_cast<std::uint8_t>(Op::free);
}

// Over op, object, size and time of every event.
std::uint64_t hash_of(const TraceColumns &trace) {
    heapfit::test::FnvHash hash;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        hash.mix(trace.op[i], 1);
        hash.mix(trace.object[i], 4);
        hash.mix(trace.size[i]);
        hash.mix(trace.time[i]);
    }
    return hash.value();
}

TEST(every_workload_has_the_same_events_everywhere) {
    static const std::map<std::string, std::uint64_t> pinned = {
        {"t2_w1", 0x9d50fbf996cb36a8},        {"t2_w2", 0x121eab83863a6f4b},
        {"t2_w3", 0x90038a4b05db54d5},        {"t2_w4", 0x9585834616f0a7c6},
        {"t2_w5", 0x8fef37f9f4582275},        {"queue_fill", 0xfcfc7918da669a3e},
        {"queue_slide", 0x39012505fd6b64c3},  {"poisson_500", 0x9565681e15992c8e},
        {"poisson_2000", 0xebb6c86ce243e355}, {"djgpp_test", 0x6f4fad04270fe72a},
        {"slotbuf", 0x5776be97c56c197b},      {"zg_mean", 0x728005c72e271eb1},
        {"zg_cdf", 0xe5c730e974b8b8fd},       {"zg_size", 0x1d287b58028d079f},
        {"zg_markov", 0x96d28e1dc4da6e36},    {"zg_time", 0x738efa6856b482bb},
        {"phases_w1", 0xf652fa4ce9ee8d24},    {"phases_w2", 0x5d749e88f7df27ad},
        {"phases_w3", 0x515c66c33b5ff7c1},    {"phases_w4", 0x2f9dc4c7bf147ed4},
        {"phases_w5", 0x3070d29e298ef479},    {"phases_x16", 0x089bf9915b838b86},
        {"phase_shift", 0x967cbbb8830d18b5},  {"phase_shift_small", 0xfc313e88172369e5},
        {"campus", 0xedaaa39d43abdc37},
    };
    bool is_same = pinned.size() == workloads().size();
    for (const WorkloadInfo &info : workloads()) {
        const auto expected = pinned.find(info.name);
        const std::uint64_t hash = hash_of(whole(info.name));
        if (expected == pinned.end() || expected->second != hash) {
            std::fprintf(stderr, "  {\"%s\", 0x%016llx},\n", info.name,
                         static_cast<unsigned long long>(hash));
            is_same = false;
        }
    }
    CHECK(is_same);
}

// Blocks of each size live after every event, as `visit(size -> blocks)` is told.
template <class Visit> void walk_live(const TraceColumns &trace, Visit visit) {
    std::map<ObjectId, Bytes> sizes;
    std::map<Bytes, std::uint64_t> live;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        if (!allocates(trace, i)) { // a free, or a resize
            live[sizes.at(trace.object[i])]--;
        }
        if (!frees(trace, i)) {
            sizes[trace.object[i]] = trace.size[i];
            live[trace.size[i]]++;
        }
        visit(live);
    }
}

TEST(table_2_has_four_sizes_and_never_more_than_ten_of_one) {
    static constexpr std::array<std::pair<const char *, std::array<Bytes, 4>>, 5> table = {{
        {"t2_w1", {131072, 65536, 32768, 16384}},
        {"t2_w2", {2048, 1024, 512, 256}},
        {"t2_w3", {81936, 80176, 64032, 49472}},
        {"t2_w4", {2952, 1978, 1040, 528}},
        {"t2_w5", {131072, 80176, 1024, 528}},
    }};
    for (const auto &[name, sizes] : table) {
        std::map<Bytes, std::uint64_t> most;
        walk_live(whole(name), [&most](const auto &live) {
            for (const auto &[size, count] : live) {
                most[size] = std::max(most[size], count);
            }
        });
        CHECK(most.size() == 4);
        for (const Bytes size : sizes) {
            CHECK(most[size] == 10);
        }
    }
}

// A walk that turns back at 0 and 10 is at either end half as often as anywhere between: 1 of 20
// times each.
TEST(a_type_of_table_2_walks_evenly) {
    std::array<int, 11> times{};
    walk_live(whole("t2_w4"), [&times](const auto &live) {
        const auto found = live.find(528);
        times.at(found == live.end() ? 0 : found->second)++;
    });
    for (std::size_t count = 0; count <= 10; count++) {
        const int expected = count == 0 || count == 10 ? 5'000 : 10'000;
        CHECK(times.at(count) > expected * 8 / 10 && times.at(count) < expected * 12 / 10);
    }
}

TEST(a_filled_queue_is_drained_in_order) {
    const TraceColumns trace = whole("queue_fill", {{"packets", 2'500}});
    CHECK(trace.op.size() == 5'000);
    for (std::size_t i = 0; i < 4'000; i++) {
        CHECK(allocates(trace, i) == (i / 1'000 % 2 == 0));
        CHECK(trace.object[i] == i / 2'000 * 1'000 + i % 1'000);
    }
    for (std::size_t i = 4'500; i < 5'000; i++) { // what is queued when no more arrive
        CHECK(frees(trace, i) && trace.object[i] == i - 2'500);
    }
}

TEST(a_sliding_queue_stays_full) {
    const TraceColumns trace = whole("queue_slide", {{"packets", 3'000}, {"depth", 100}});
    std::uint64_t live = 0;
    ObjectId oldest = 0;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        live += allocates(trace, i) ? 1 : static_cast<std::uint64_t>(-1);
        CHECK(!frees(trace, i) || trace.object[i] == oldest++);
        CHECK(live <= 100);
        CHECK(i < 99 || i >= 5'900 || live >= 99);
    }
    CHECK(trace.op.size() == 6'000 && live == 0);
}

TEST(a_sweep_visits_slots_in_order_with_its_shares) {
    const TraceColumns trace = whole("djgpp_test");
    std::map<std::uint8_t, int> ops;
    std::array<int, 18> bits{};
    std::uint64_t live = 0, most = 0;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        ops[trace.op[i]]++;
        live += allocates(trace, i) ? 1 : frees(trace, i) ? static_cast<std::uint64_t>(-1) : 0;
        most = std::max(most, live);
        if (!frees(trace, i)) {
            CHECK(trace.size[i] > 0);
            bits.at(static_cast<std::size_t>(std::bit_width(trace.size[i])))++;
        }
    }
    const int resizes = ops[static_cast<std::uint8_t>(Op::resize)];
    const int all_frees = ops[static_cast<std::uint8_t>(Op::free)];
    CHECK(resizes > 13'700 && resizes < 14'900); // 1 in 7 events
    CHECK(all_frees > 2.85 * resizes && all_frees < 3.15 * resizes);
    CHECK(most > 240 && most < 280); // 4 in 7 of 400 slots, deviation 10
    const int sizes = 100'000 - all_frees;
    // 17 bits only of the widest 15th, and then one time in two; 8 bits of ten widths.
    CHECK(bits[17] > 0.030 * sizes && bits[17] < 0.037 * sizes);
    CHECK(bits[8] > 0.063 * sizes && bits[8] < 0.070 * sizes);
}

bool is_drawn(const WorkloadInfo &info) {
    return std::string(info.name).find("phase_shift") == std::string::npos;
}

TEST(another_seed_makes_other_events) {
    for (const WorkloadInfo &info : workloads()) {
        const auto some = [&](std::uint64_t seed) {
            return hash_of(WorkloadSource(info.name, {}, seed).take(5'000));
        };
        const bool differs = some(1) != some(2);
        CHECK(differs == is_drawn(info));
    }
}

// Sizes, and lifetimes in allocations, of a trace's freed blocks.
struct Lives {
    std::map<Bytes, double> allocations, freed, lived; // by size
    double repeats = 0;                                // sizes equal to the one before
};

Lives lives_of(const TraceColumns &trace) {
    Lives lives;
    std::map<ObjectId, std::pair<Bytes, double>> born;
    double now = 0;
    Bytes last = 0;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        if (allocates(trace, i)) {
            born[trace.object[i]] = {trace.size[i], now++};
            lives.allocations[trace.size[i]]++;
            lives.repeats += trace.size[i] == last ? 1 : 0;
            last = trace.size[i];
        } else {
            const auto [size, time] = born.at(trace.object[i]);
            lives.freed[size]++;
            lives.lived[size] += now - time;
        }
    }
    return lives;
}

bool is_near(double value, double expected, double relative) {
    return value > expected * (1 - relative) && value < expected * (1 + relative);
}

TEST(the_mean_model_has_the_means_it_is_given) {
    const TraceColumns trace = whole("zg_mean");
    double bytes = 0, allocations = 0, lived = 0, freed = 0;
    for (const auto &[size, count] : lives_of(trace).allocations) {
        bytes += static_cast<double>(size) * count;
        allocations += count;
    }
    const Lives lives = lives_of(trace);
    for (const auto &[size, count] : lives.freed) {
        freed += count;
        lived += lives.lived.at(size);
    }
    CHECK(is_near(allocations, 50'000, 0.01));
    CHECK(is_near(bytes / allocations, 1040, 0.02)); // deviation 0.5 %
    CHECK(is_near(lived / freed, 24, 0.05));         // freed at the next allocation: up to 1 later
    CHECK(lives.allocations.size() > 3'000);
}

const WorkloadValues no_limit = {{"limit", 1'000'000}, {"long_percent", 0}};

WorkloadValues with(WorkloadValues values, const WorkloadValues &more) {
    values.insert(more.begin(), more.end());
    return values;
}

TEST(the_cdf_model_draws_sizes_by_weight_and_lifetimes_apart_from_them) {
    const Lives lives = lives_of(whole("zg_cdf", with(no_limit, {{"life", 100}})));
    static constexpr std::array<std::pair<Bytes, double>, 4> shares = {
        {{2952, 0.1}, {1978, 0.2}, {1040, 0.3}, {528, 0.4}}};
    for (const auto &[size, share] : shares) {
        CHECK(is_near(lives.allocations.at(size), 50'000 * share, 0.06));
        CHECK(is_near(lives.lived.at(size) / lives.freed.at(size), 100, 0.05));
    }
}

TEST(lifetimes_of_the_size_model_depend_on_the_size) {
    const Lives lives = lives_of(whole("zg_size", no_limit));
    static constexpr std::array<std::pair<Bytes, double>, 4> means = {
        {{2952, 40}, {1978, 24}, {1040, 16}, {528, 8}}};
    for (const auto &[size, mean] : means) {
        CHECK(is_near(lives.lived.at(size) / lives.freed.at(size), mean, 0.08));
    }
}

TEST(sizes_of_the_markov_model_follow_themselves) {
    const Lives apart = lives_of(whole("zg_cdf")), chained = lives_of(whole("zg_markov"));
    CHECK(is_near(apart.repeats, 50'000 * 0.30, 0.05)); // .1^2 + .2^2 + .3^2 + .4^2
    CHECK(is_near(chained.repeats, 50'000 * (0.8 + 0.2 * 0.30), 0.02));
    CHECK(is_near(chained.allocations.at(528), 20'000, 0.05));
}

TEST(models_keep_the_limit_of_each_size) {
    for (const char *name :
         {"zg_cdf", "zg_size", "zg_markov", "zg_time", "phases_w4", "phases_x16"}) {
        std::map<Bytes, std::uint64_t> most;
        walk_live(whole(name), [&most](const auto &live) {
            for (const auto &[size, count] : live) {
                most[size] = std::max(most[size], count);
            }
        });
        for (const auto &[size, count] : most) {
            CHECK(count == 10);
        }
        CHECK(most.size() == (std::strcmp(name, "phases_x16") == 0 ? 16 : 4));
    }
}

TEST(a_phase_shift_frees_the_large_blocks_and_asks_for_others) {
    const TraceColumns trace = whole("phase_shift");
    CHECK(trace.op.size() == 12'000);
    std::map<int, std::map<Bytes, std::uint64_t>> seen;
    int event = 0;
    walk_live(trace, [&](const auto &live) { seen[++event] = live; });
    CHECK(seen[4'000][64] == 2'000 && seen[4'000][448] == 2'000);
    CHECK(seen[6'000][64] == 2'000 && seen[6'000][448] == 0);
    CHECK(seen[8'000][64] == 2'000 && seen[8'000][512] == 2'000);
    CHECK(seen[12'000][64] == 0 && seen[12'000][512] == 0);
    CHECK(trace.size[0] == 64 && trace.size[1] == 448);
    CHECK(whole("phase_shift_small").op.size() == 24'000);
}

TEST(a_campus_packet_has_621_bytes_on_average) {
    const TraceColumns trace = whole("campus");
    std::map<Bytes, double> counts;
    double bytes = 0;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        if (allocates(trace, i)) {
            counts[trace.size[i]]++;
            bytes += static_cast<double>(trace.size[i]);
        }
    }
    CHECK(is_near(bytes / 50'000, 621, 0.012)); // deviation 0.4 %
    CHECK(is_near(counts[40], 21'500, 0.02) && is_near(counts[1500], 13'000, 0.025));
    CHECK(counts.begin()->first == 40 && counts.rbegin()->first == 1500);
}

TEST(campus_packets_come_in_bursts_and_leave_in_order_at_the_links_rate) {
    const TraceColumns trace = whole("campus");
    double together = 0;
    Tick last_arrival = 0, last_release = 0;
    ObjectId oldest = 0;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        CHECK(i == 0 || trace.time[i] >= trace.time[i - 1]);
        if (allocates(trace, i)) {
            together += i > 0 && trace.time[i] == last_arrival ? 1 : 0;
            last_arrival = trace.time[i];
        } else {
            CHECK(trace.object[i] == oldest++);
            CHECK(oldest == 1 || trace.time[i] - last_release >= 799); // 1 s / 1250, cut to us
            last_release = trace.time[i];
        }
    }
    CHECK(is_near(together, 50'000 * 7. / 8, 0.02));
    CHECK(is_near(static_cast<double>(trace.time.back()) / 1e6, 50, 0.1));
    CHECK(oldest == 50'000);
}

TEST(the_events_do_not_depend_on_the_batches) {
    for (const WorkloadInfo &info : workloads()) {
        const TraceColumns expected =
            WorkloadSource(info.name, {}, 1).take(heapfit::test::turns(200'000));
        WorkloadSource source(info.name, {}, 1);
        TraceColumns joined;
        while (joined.op.size() < expected.op.size()) {
            const std::size_t most =
                std::min<std::size_t>(997, expected.op.size() - joined.op.size());
            const TraceColumns part = source.take(most);
            CHECK(!part.op.empty() && part.op.size() <= most);
            joined.op.insert(joined.op.end(), part.op.begin(), part.op.end());
            joined.size.insert(joined.size.end(), part.size.begin(), part.size.end());
            joined.object.insert(joined.object.end(), part.object.begin(), part.object.end());
        }
        CHECK(joined.op == expected.op && joined.size == expected.size);
        CHECK(joined.object == expected.object);
    }
}

TEST(names_are_unique_and_told_in_words) {
    std::set<std::string> names;
    for (const WorkloadInfo &info : workloads()) {
        CHECK(names.insert(info.name).second);
        CHECK(std::strlen(info.title) > 0 && std::strlen(info.origin) > 0);
        for (const WorkloadParameter &parameter : info.parameters) {
            CHECK(std::strlen(parameter.meaning) > 0);
            CHECK(parameter.lowest <= parameter.standard &&
                  parameter.standard <= parameter.highest);
        }
    }
}

TEST(what_is_not_a_workload_is_refused_with_what_there_is) {
    CHECK(error_of([] { WorkloadSource("t2_w6", {}, 1); }) ==
          "workload: none is named 't2_w6' (there are t2_w1, t2_w2, t2_w3, t2_w4, t2_w5, "
          "queue_fill, queue_slide, slotbuf, poisson_500, poisson_2000, djgpp_test, zg_mean, "
          "zg_cdf, zg_size, zg_markov, zg_time, phases_w1, phases_w2, phases_w3, phases_w4, "
          "phases_w5, phases_x16, phase_shift, phase_shift_small, campus)");
    CHECK_ERROR("workload: every weight is 0: some size must be drawn",
                WorkloadSource("zg_cdf",
                               {{"weight_1", 0}, {"weight_2", 0}, {"weight_3", 0}, {"weight_4", 0}},
                               1));
    CHECK_ERROR("workload: ack_percent and mtu_percent are more than 100 together",
                WorkloadSource("campus", {{"ack_percent", 75}}, 1));
    CHECK_ERROR("workload: mtu_size must be at least ack_size + 2: others lie between them",
                WorkloadSource("campus", {{"mtu_size", 41}}, 1));
    CHECK_ERROR("workload: djgpp_test: no parameter is named 'depth' (it has events, slots)",
                WorkloadSource("djgpp_test", {{"depth", 3}}, 1));
    CHECK_ERROR("workload: djgpp_test: slots 0 is out of range (1 to 100000000)",
                WorkloadSource("djgpp_test", {{"slots", 0}}, 1));
    CHECK_ERROR("workload: ack_percent and mtu_percent are more than 100 together",
                WorkloadSource("queue_fill", {{"ack_percent", 75}}, 1));
    CHECK_ERROR("workload: mtu_size must be at least ack_size + 2: others lie between them",
                WorkloadSource("queue_fill", {{"mtu_size", 41}}, 1));
    CHECK_ERROR("workload: smallest must not be above largest",
                WorkloadSource("poisson_500", {{"smallest", 2001}}, 1));
}

} // namespace
