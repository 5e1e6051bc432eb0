// SPDX-License-Identifier: Apache-2.0
// The list of synthetic programs: statistical models, phases, and a campus network's packets.
#include <array>

#include "workload/laws.hpp"
#include "workload/parameters.hpp"

namespace heapfit {

namespace {

using Sizes = std::array<Bytes, 4>;

constexpr std::uint64_t longest_life = 1'000'000'000;

// Only the abstract of the source is at hand, and how others tell it (Wilson et al. 1995).
constexpr const char *models_origin =
    "after Zorn and Grunwald 1994, Evaluating models of memory allocation, which Lee and Yi cite; "
    "shapes of the distributions, the limit and all values are assumed";

WorkloadParameter life_parameter(const char *name, std::uint64_t standard) {
    return {name, "Mean lifetime, in allocations.", 1, longest_life, standard};
}

WorkloadParameter weight_parameter(const char *name, std::uint64_t standard) {
    return {name, "How often the size is drawn, against the other weights.", 0, 1'000'000,
            standard};
}

std::vector<WorkloadParameter> size_parameters(const Sizes &sizes) {
    return {size_parameter("size_1", "First size, in bytes.", sizes[0]),
            size_parameter("size_2", "Second size, in bytes.", sizes[1]),
            size_parameter("size_3", "Third size, in bytes.", sizes[2]),
            size_parameter("size_4", "Fourth size, in bytes.", sizes[3])};
}

std::vector<Bytes> four_sizes(const WorkloadValues &values) {
    return {values.at("size_1"), values.at("size_2"), values.at("size_3"), values.at("size_4")};
}

// What the models of four sizes have in common: table 2's workload 4, small sizes more often.
std::vector<WorkloadParameter> typed_parameters() {
    std::vector<WorkloadParameter> all = {events_parameter(100'000), limit_parameter()};
    for (const WorkloadParameter &size : size_parameters({2952, 1978, 1040, 528})) {
        all.push_back(size);
    }
    for (const auto &[name, standard] :
         {std::pair{"weight_1", 10}, {"weight_2", 20}, {"weight_3", 30}, {"weight_4", 40}}) {
        all.push_back(weight_parameter(name, static_cast<std::uint64_t>(standard)));
    }
    all.push_back(
        percent_parameter("long_percent", "Share of blocks that live 10 times as long.", 10));
    return all;
}

ProgramModel typed_model(const WorkloadValues &values) {
    const auto life = values.find("life");
    ProgramModel model;
    model.sizes = four_sizes(values);
    model.weights = {values.at("weight_1"), values.at("weight_2"), values.at("weight_3"),
                     values.at("weight_4")};
    model.lives.assign(4, life == values.end() ? 0 : life->second);
    model.long_percent = values.at("long_percent");
    model.limit = values.at("limit");
    model.events = values.at("events");
    return model;
}

std::vector<WorkloadParameter> with(std::vector<WorkloadParameter> parameters,
                                    std::initializer_list<WorkloadParameter> more) {
    parameters.insert(parameters.end(), more);
    return parameters;
}

WorkloadInfo mean_model() {
    return {"zg_mean",
            "model MEAN: mean size and mean lifetime",
            models_origin,
            {events_parameter(100'000), size_parameter("size", "Mean size, in bytes.", 1040),
             life_parameter("life", 24)},
            [](const WorkloadValues &values, std::uint64_t seed) {
                ProgramModel model;
                model.sizes = {values.at("size")};
                model.weights = {1};
                model.lives = {values.at("life")};
                model.spreads_sizes = true;
                model.events = values.at("events");
                return program_model(model, seed);
            }};
}

WorkloadInfo cdf_model() {
    return {"zg_cdf", "model CDF: sizes and lifetimes by their shares, apart", models_origin,
            with(typed_parameters(), {life_parameter("life", 16)}),
            [](const WorkloadValues &values, std::uint64_t seed) {
                return program_model(typed_model(values), seed);
            }};
}

WorkloadInfo size_model() {
    return {"zg_size", "model SIZE: lifetimes that depend on the size", models_origin,
            with(typed_parameters(), {life_parameter("life_1", 40), life_parameter("life_2", 24),
                                      life_parameter("life_3", 16), life_parameter("life_4", 8)}),
            [](const WorkloadValues &values, std::uint64_t seed) {
                ProgramModel model = typed_model(values);
                model.lives = {values.at("life_1"), values.at("life_2"), values.at("life_3"),
                               values.at("life_4")};
                return program_model(model, seed);
            }};
}

WorkloadInfo markov_model() {
    return {"zg_markov", "model MARKOV: the next size depends on the last", models_origin,
            with(typed_parameters(),
                 {life_parameter("life", 16),
                  percent_parameter("repeat_percent", "How often a size follows itself.", 80)}),
            [](const WorkloadValues &values, std::uint64_t seed) {
                ProgramModel model = typed_model(values);
                model.repeat_percent = values.at("repeat_percent");
                return program_model(model, seed);
            }};
}

WorkloadInfo time_model() {
    return {"zg_time", "model TIME: shares of sizes that change", models_origin,
            with(typed_parameters(),
                 {life_parameter("life", 16),
                  {"phase", "Allocations until the weights move on.", 1, most_events, 5000}}),
            [](const WorkloadValues &values, std::uint64_t seed) {
                ProgramModel model = typed_model(values);
                model.phase = values.at("phase");
                return program_model(model, seed);
            }};
}

constexpr const char *phases_origin =
    "our own model of a program in phases; sizes of Lee and Yi 2008, table 2";

std::vector<WorkloadParameter> phase_parameters() {
    return {events_parameter(100'000),
            limit_parameter(),
            {"phase", "Events until new targets are drawn.", 1, most_events, 500}};
}

WorkloadInfo phased(const char *name, const char *title, const Sizes &sizes) {
    std::vector<WorkloadParameter> parameters = phase_parameters();
    for (const WorkloadParameter &size : size_parameters(sizes)) {
        parameters.push_back(size);
    }
    return {name, title, phases_origin, parameters,
            [](const WorkloadValues &values, std::uint64_t seed) {
                return phased_targets({four_sizes(values), values.at("limit"), values.at("phase"),
                                       values.at("events")},
                                      seed);
            }};
}

// As far apart by magnitude as 24 B and 1,840 B allow for 16 sizes.
WorkloadInfo phased_16() {
    return {"phases_x16", "16 sizes from 24 B to 1,840 B, in phases",
            "our own model of a program in phases", phase_parameters(),
            [](const WorkloadValues &values, std::uint64_t seed) {
                return phased_targets(
                    {{24, 32, 43, 57, 76, 102, 136, 182, 243, 324, 432, 578, 771, 1030, 1378, 1840},
                     values.at("limit"),
                     values.at("phase"),
                     values.at("events")},
                    seed);
            }};
}

WorkloadInfo shifting(const char *name, const char *title, const PhaseShift &standard) {
    return {
        name,
        title,
        "the pattern of two traces of the CS:APP malloc lab, as they are told; no draws: every "
        "seed gives the same",
        {{"pairs", "Pairs of blocks, and blocks of the last size.", 1, 100'000'000, standard.pairs},
         size_parameter("small", "The size that stays, in bytes.", standard.small),
         size_parameter("large", "The size freed at half time, in bytes.", standard.large),
         size_parameter("last", "The size asked for then, in bytes.", standard.last)},
        [](const WorkloadValues &values, std::uint64_t) {
            return phase_shift(
                {values.at("small"), values.at("large"), values.at("last"), values.at("pairs")});
        }};
}

// 43 % of 40 B and 26 % of 1,500 B; a mean of 621 B leaves 689 B for the others, which 22 % of
// them alike by magnitude and 78 % alike give.
WorkloadInfo campus() {
    return {
        "campus",
        "a campus network's packets, in bursts through a link",
        "Mamagkakis, Soudris and Catthoor: 43 % of 40 B, 26 % of 1,500 B, 621 B on average; "
        "other sizes, bursts and rates are assumed",
        {{"packets", "Packets in all.", 1, most_events / 2, 50'000},
         {"rate", "Packets that arrive in a second on average.", 1, 1'000'000, 1000},
         {"served", "Packets that can leave in a second.", 1, 100'000'000, 1250},
         {"burst", "Packets that arrive together on average.", 1, 1'000'000, 8},
         size_parameter("ack_size", "The smallest packet, in bytes.", 40),
         percent_parameter("ack_percent", "Share of packets of ack_size.", 43),
         size_parameter("mtu_size", "The largest packet, in bytes.", 1500),
         percent_parameter("mtu_percent", "Share of packets of mtu_size.", 26),
         percent_parameter("log_percent", "Share of the others that are alike by magnitude.", 22)},
        [](const WorkloadValues &values, std::uint64_t seed) {
            return packet_mix({values.at("ack_size"), values.at("mtu_size"),
                               values.at("ack_percent"), values.at("mtu_percent"),
                               values.at("log_percent"), values.at("packets"), values.at("rate"),
                               values.at("served"), values.at("burst")},
                              seed);
        }};
}

} // namespace

std::vector<WorkloadInfo> program_workloads() {
    return {
        mean_model(),
        cdf_model(),
        size_model(),
        markov_model(),
        time_model(),
        phased("phases_w1", "sizes of t2_w1, in phases", {131072, 65536, 32768, 16384}),
        phased("phases_w2", "sizes of t2_w2, in phases", {2048, 1024, 512, 256}),
        phased("phases_w3", "sizes of t2_w3, in phases", {81936, 80176, 64032, 49472}),
        phased("phases_w4", "sizes of t2_w4, in phases", {2952, 1978, 1040, 528}),
        phased("phases_w5", "sizes of t2_w5, in phases", {131072, 80176, 1024, 528}),
        phased_16(),
        shifting("phase_shift", "64 and 448 B, then 512 B that fit no hole", {64, 448, 512, 2000}),
        shifting("phase_shift_small", "16 and 112 B, then 128 B that fit no hole",
                 {16, 112, 128, 4000}),
        campus()};
}

} // namespace heapfit
