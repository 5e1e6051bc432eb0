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
#include "heapfit/workload.hpp"

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

// FNV-1a over op, object, size and time of every event, as little-endian numbers.
std::uint64_t hash_of(const TraceColumns &trace) {
    std::uint64_t hash = 0xcbf29ce484222325;
    const auto mix = [&hash](std::uint64_t value, int bytes) {
        for (int i = 0; i < bytes; i++) {
            hash = (hash ^ (value >> (8 * i) & 0xff)) * 0x100000001b3;
        }
    };
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        mix(trace.op[i], 1);
        mix(trace.object[i], 4);
        mix(trace.size[i], 8);
        mix(trace.time[i], 8);
    }
    return hash;
}

void every_workload_has_the_same_events_everywhere() {
    static const std::map<std::string, std::uint64_t> pinned = {
        {"t2_w1", 0x9d50fbf996cb36a8},        {"t2_w2", 0x121eab83863a6f4b},
        {"t2_w3", 0x90038a4b05db54d5},        {"t2_w4", 0x9585834616f0a7c6},
        {"t2_w5", 0x8fef37f9f4582275},        {"queue_fill", 0xfcfc7918da669a3e},
        {"queue_slide", 0x39012505fd6b64c3},  {"poisson_500", 0x9565681e15992c8e},
        {"poisson_2000", 0xebb6c86ce243e355}, {"djgpp_test", 0x6f4fad04270fe72a},
        {"slotbuf", 0x5776be97c56c197b},
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

void table_2_has_four_sizes_and_never_more_than_ten_of_one() {
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
void a_type_of_table_2_walks_evenly() {
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

void the_limit_of_table_2_is_kept_wherever_it_lies() {
    walk_live(whole("t2_w2", {{"limit", 3}, {"events", 5'000}}), [](const auto &live) {
        for (const auto &[size, count] : live) {
            CHECK(count <= 3);
        }
    });
}

void packets_have_their_shares_and_other_sizes_lie_between() {
    const TraceColumns trace = whole("queue_fill");
    std::map<Bytes, int> counts;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        counts[trace.size[i]] += allocates(trace, i) ? 1 : 0;
    }
    CHECK(counts.begin()->first == 0); // frees
    CHECK(counts.rbegin()->first == 1500);
    CHECK(counts[40] > 21'000 && counts[40] < 22'000);     // 43 % of 50,000; deviation 111
    CHECK(counts[1500] > 12'500 && counts[1500] < 13'500); // 26 %; deviation 98
    CHECK(counts.size() > 1'400);                          // of 1,461
    CHECK(counts.lower_bound(1) == counts.find(40));
}

void a_filled_queue_is_drained_in_order() {
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

void a_sliding_queue_stays_full() {
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

void poisson_arrivals_have_their_rate_and_blocks_their_holding_time() {
    const TraceColumns trace = whole("poisson_500");
    std::map<ObjectId, Tick> born;
    Tick held = 0;
    std::uint64_t released = 0, bytes = 0;
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        CHECK(i == 0 || trace.time[i] >= trace.time[i - 1]);
        if (allocates(trace, i)) {
            CHECK(trace.size[i] >= 80 && trace.size[i] <= 2000);
            bytes += trace.size[i];
            born[trace.object[i]] = trace.time[i];
        } else {
            held += trace.time[i] - born.at(trace.object[i]);
            released++;
        }
    }
    const double seconds = static_cast<double>(trace.time.back()) / 1e6;
    const auto arrivals = static_cast<double>(born.size());
    CHECK(arrivals / seconds > 490 && arrivals / seconds < 510); // deviation 1.6
    const double mean_held = static_cast<double>(held) / static_cast<double>(released) / 1e6;
    CHECK(mean_held > 0.98 && mean_held < 1.02); // deviation 0.003
    const double mean_size = static_cast<double>(bytes) / arrivals;
    CHECK(mean_size > 1030 && mean_size < 1050);                         // 1040, deviation 1.8
    CHECK(born.size() - released > 400 && born.size() - released < 600); // 500 live, deviation 22
}

void a_sweep_visits_slots_in_order_with_its_shares() {
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

void a_slot_buffer_is_half_full_of_sizes_alike_by_magnitude() {
    const TraceColumns trace = whole("slotbuf");
    std::uint64_t live = 0, most = 0, allocations = 0;
    std::array<int, 11> bits{};
    for (std::size_t i = 0; i < trace.op.size(); i++) {
        live += allocates(trace, i) ? 1 : static_cast<std::uint64_t>(-1);
        most = std::max(most, live);
        if (allocates(trace, i)) {
            allocations++;
            bits.at(static_cast<std::size_t>(std::bit_width(trace.size[i])))++;
        }
    }
    CHECK(most > 160 && most < 200);                    // 150 of 300 slots, deviation 9
    for (std::size_t width = 4; width <= 10; width++) { // 8 to 1023: seven doublings, alike
        const double share = bits.at(width) / static_cast<double>(allocations);
        CHECK(share > 0.135 && share < 0.151); // 1 of 7, deviation 0.0016
    }
}

void another_seed_makes_other_events() {
    for (const WorkloadInfo &info : workloads()) {
        CHECK(hash_of(whole(info.name, {}, 1)) != hash_of(whole(info.name, {}, 2)));
    }
}

void the_events_do_not_depend_on_the_batches() {
    for (const WorkloadInfo &info : workloads()) {
        const TraceColumns expected = whole(info.name);
        WorkloadSource source(info.name, {}, 1);
        TraceColumns joined;
        for (TraceColumns part = source.take(997); !part.op.empty(); part = source.take(997)) {
            CHECK(part.op.size() <= 997);
            joined.op.insert(joined.op.end(), part.op.begin(), part.op.end());
            joined.size.insert(joined.size.end(), part.size.begin(), part.size.end());
            joined.object.insert(joined.object.end(), part.object.begin(), part.object.end());
        }
        CHECK(joined.op == expected.op && joined.size == expected.size);
        CHECK(joined.object == expected.object);
    }
}

void names_are_unique_and_told_in_words() {
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

void what_is_not_a_workload_is_refused_with_what_there_is() {
    CHECK(error_of([] { WorkloadSource("t2_w6", {}, 1); }) ==
          "workload: none is named 't2_w6' (there are t2_w1, t2_w2, t2_w3, t2_w4, t2_w5, "
          "queue_fill, queue_slide, slotbuf, poisson_500, poisson_2000, djgpp_test)");
    CHECK(error_of([] {
              WorkloadSource("djgpp_test", {{"depth", 3}}, 1);
          }) == "workload: djgpp_test: no parameter is named 'depth' (it has events, slots)");
    CHECK(error_of([] {
              WorkloadSource("djgpp_test", {{"slots", 0}}, 1);
          }) == "workload: djgpp_test: slots 0 is out of range (1 to 100000000)");
    CHECK(error_of([] {
              WorkloadSource("queue_fill", {{"ack_percent", 75}}, 1);
          }) == "workload: ack_percent and mtu_percent are more than 100 together");
    CHECK(error_of([] {
              WorkloadSource("queue_fill", {{"mtu_size", 41}}, 1);
          }) == "workload: mtu_size must be at least ack_size + 2: others lie between them");
    CHECK(error_of([] {
              WorkloadSource("poisson_500", {{"smallest", 2001}}, 1);
          }) == "workload: smallest must not be above largest");
}

} // namespace

int main() {
    RUN(table_2_has_four_sizes_and_never_more_than_ten_of_one);
    RUN(a_type_of_table_2_walks_evenly);
    RUN(the_limit_of_table_2_is_kept_wherever_it_lies);
    RUN(packets_have_their_shares_and_other_sizes_lie_between);
    RUN(a_filled_queue_is_drained_in_order);
    RUN(a_sliding_queue_stays_full);
    RUN(poisson_arrivals_have_their_rate_and_blocks_their_holding_time);
    RUN(a_sweep_visits_slots_in_order_with_its_shares);
    RUN(a_slot_buffer_is_half_full_of_sizes_alike_by_magnitude);
    RUN(every_workload_has_the_same_events_everywhere);
    RUN(another_seed_makes_other_events);
    RUN(the_events_do_not_depend_on_the_batches);
    RUN(names_are_unique_and_told_in_words);
    RUN(what_is_not_a_workload_is_refused_with_what_there_is);
}
