// SPDX-License-Identifier: Apache-2.0
// The list of workloads, and a law's requests as columns of a trace.
#include "heapfit/workload/workload.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "heapfit/error.hpp"
#include "workload/laws.hpp"
#include "workload/parameters.hpp"

namespace heapfit {

namespace {

using Sizes = std::array<Bytes, 4>;

// Lee and Yi, table 2: four sizes, at most 10 blocks of each.
WorkloadInfo table2(const char *name, const char *title, const Sizes &sizes) {
    return {name,
            title,
            "Lee and Yi 2008, table 2; the walk is assumed: type alike, a coin, a random victim",
            {events_parameter(100'000), limit_parameter(),
             size_parameter("size_1", "First size, in bytes.", sizes[0]),
             size_parameter("size_2", "Second size, in bytes.", sizes[1]),
             size_parameter("size_3", "Third size, in bytes.", sizes[2]),
             size_parameter("size_4", "Fourth size, in bytes.", sizes[3])},
            [](const WorkloadValues &values, std::uint64_t seed) {
                return capped_walk({{values.at("size_1"), values.at("size_2"), values.at("size_3"),
                                     values.at("size_4")},
                                    values.at("limit"),
                                    values.at("events")},
                                   seed);
            }};
}

constexpr const char *packets_origin =
    "Mamagkakis, Soudris and Catthoor, sections 3 to 5; other sizes alike is assumed";

std::vector<WorkloadParameter> packet_parameters(std::uint64_t packets) {
    return {{"packets", "Packets in all.", 1, most_events / 2, packets},
            {"depth", "Packets queued at most.", 1, 100'000'000, 1000},
            size_parameter("ack_size", "The smallest packet, in bytes.", 40),
            {"ack_percent", "Share of packets of ack_size.", 0, 100, 43},
            size_parameter("mtu_size", "The largest packet, in bytes.", 1500),
            {"mtu_percent", "Share of packets of mtu_size.", 0, 100, 26}};
}

WorkloadLaw packets(const WorkloadValues &values, std::uint64_t left, std::uint64_t seed) {
    return packet_queue({values.at("ack_size"), values.at("mtu_size"), values.at("ack_percent"),
                         values.at("mtu_percent"), values.at("packets"), values.at("depth"), left},
                        seed);
}

WorkloadInfo queue_fill() {
    return {"queue_fill", "queue of packets, filled and drained", packets_origin,
            packet_parameters(50'000), [](const WorkloadValues &values, std::uint64_t seed) {
                return packets(values, 0, seed);
            }};
}

WorkloadInfo queue_slide() {
    return {"queue_slide", "queue of packets that stays full", packets_origin,
            packet_parameters(101'000), [](const WorkloadValues &values, std::uint64_t seed) {
                return packets(values, values.at("depth") - 1, seed);
            }};
}

WorkloadInfo poisson(const char *name, const char *title, std::uint64_t rate,
                     std::uint64_t events) {
    return {name,
            title,
            "Elsayed and Galal, part 2, section 3; exponential holding is assumed",
            {events_parameter(events),
             {"rate", "Requests a second on average.", 1, 1'000'000, rate},
             size_parameter("smallest", "Smallest request, in bytes.", 80),
             size_parameter("largest", "Largest request, in bytes.", 2000),
             {"holding_us", "Mean time a block is held, in microseconds.", 1, 1'000'000'000'000,
              1'000'000}},
            [](const WorkloadValues &values, std::uint64_t seed) {
                return poisson_holding({values.at("smallest"), values.at("largest"),
                                        values.at("rate"), values.at("holding_us"),
                                        values.at("events")},
                                       seed);
            }};
}

WorkloadInfo slotbuf() {
    return {"slotbuf",
            "300 slots, filled and emptied at random",
            "Cebeci 2019, section 1; sizes from 8 B to 1 KiB are assumed",
            {events_parameter(100'000),
             {"slots", "Slots that hold a block each.", 1, 1 << 24, 300},
             size_parameter("smallest", "Smallest request, in bytes.", 8),
             size_parameter("largest", "Largest request, in bytes.", 1024)},
            [](const WorkloadValues &values, std::uint64_t seed) {
                return buffer_walk({values.at("slots"), values.at("smallest"), values.at("largest"),
                                    values.at("events")},
                                   seed);
            }};
}

WorkloadInfo djgpp_test() {
    return {"djgpp_test",
            "400 slots of widely mixed sizes, with resizes",
            "DJGPP's malloc contest, as its page describes the test; written afresh",
            {events_parameter(100'000),
             {"slots", "Slots that hold a block each.", 1, 100'000'000, 400}},
            [](const WorkloadValues &values, std::uint64_t seed) {
                return slot_sweep({values.at("slots"), values.at("events")}, seed);
            }};
}

std::vector<WorkloadInfo> all_workloads() {
    std::vector<WorkloadInfo> all = {
        table2("t2_w1", "powers of two from 16 KiB to 128 KiB", {131072, 65536, 32768, 16384}),
        table2("t2_w2", "powers of two from 256 B to 2 KiB", {2048, 1024, 512, 256}),
        table2("t2_w3", "large sizes, no powers of two", {81936, 80176, 64032, 49472}),
        table2("t2_w4", "small sizes, no powers of two", {2952, 1978, 1040, 528}),
        table2("t2_w5", "sizes of all four kinds", {131072, 80176, 1024, 528}),
        queue_fill(),
        queue_slide(),
        slotbuf(),
        poisson("poisson_500", "Poisson arrivals, 500 a second", 500, 200'000),
        poisson("poisson_2000", "Poisson arrivals, 2,000 a second", 2000, 60'000),
        djgpp_test()};
    for (WorkloadInfo &info : program_workloads()) {
        all.push_back(std::move(info));
    }
    return all;
}

[[noreturn]] void refuse(const std::string &what) {
    throw Error("workload: " + what);
}

template <class Items> std::string names_of(const Items &items) {
    std::string names;
    for (const auto &item : items) {
        names += (names.empty() ? "" : ", ") + std::string(item.name);
    }
    return names;
}

const WorkloadInfo &find_workload(std::string_view name) {
    const auto all = workloads();
    const auto found = std::ranges::find(all, name, &WorkloadInfo::name);
    if (found == all.end()) {
        refuse("none is named '" + std::string(name) + "' (there are " + names_of(all) + ")");
    }
    return *found;
}

std::string limits_of(const WorkloadParameter &parameter) {
    return std::to_string(parameter.lowest) + " to " + std::to_string(parameter.highest);
}

// Every parameter's value: the one given, or the standard.
WorkloadValues checked(const WorkloadInfo &info, const WorkloadValues &given) {
    WorkloadValues values;
    for (const WorkloadParameter &parameter : info.parameters) {
        const auto own = given.find(parameter.name);
        const std::uint64_t value = own == given.end() ? parameter.standard : own->second;
        if (value < parameter.lowest || value > parameter.highest) {
            refuse(std::string(info.name) + ": " + parameter.name + " " + std::to_string(value) +
                   " is out of range (" + limits_of(parameter) + ")");
        }
        values[parameter.name] = value;
    }
    for (const auto &[name, value] : given) {
        if (!values.contains(name)) {
            refuse(std::string(info.name) + ": no parameter is named '" + name + "' (it has " +
                   names_of(info.parameters) + ")");
        }
    }
    return values;
}

} // namespace

std::span<const WorkloadInfo> workloads() {
    static const std::vector<WorkloadInfo> all = all_workloads();
    return all;
}

WorkloadSource::WorkloadSource(std::string_view name, const WorkloadValues &given,
                               std::uint64_t seed)
    : info_(find_workload(name)), values_(checked(info_, given)), law_(info_.make(values_, seed)),
      builder_(OnUnknown::refuse, "event") {}

TraceColumns WorkloadSource::take(std::size_t most) {
    while (builder_.pending() < most) {
        const std::optional<Request> request = law_();
        if (!request) {
            break;
        }
        builder_.add(*request, builder_.events());
    }
    return builder_.take();
}

} // namespace heapfit
