// SPDX-License-Identifier: Apache-2.0
// Plans for tests of trials: of one allocator by its name, and of many.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "heapfit/replay/plan.hpp"

namespace heapfit::test {

inline Plan plain(const char *allocator, const Plan::Scalars &scalars = {}) {
    return {allocator, scalars, {}, std::nullopt};
}

// TLSF with both rules for classes, and pools over the last of each alignment.
inline std::vector<Plan> tlsf_plans(std::initializer_list<std::uint64_t> alignments) {
    const std::vector<PoolSpec> pools = {{24, 4, true}, {40, 3, true}, {1000, 2, true}};
    std::vector<Plan> plans;
    for (const std::uint64_t alignment : alignments) {
        for (const std::uint64_t second_level : {0u, 1u, 3u, 5u}) {
            for (const std::uint64_t probes : {0u, 1u, 2u, 8u}) {
                plans.push_back(plain("tlsf", {{"alignment", alignment},
                                               {"second_level", second_level},
                                               {"probes", probes}}));
            }
        }
        const Plan shared = plans.back();
        for (const char *const name : {"budgeted", "class_pools"}) {
            plans.emplace_back(name, Plan::Scalars{{"alignment", alignment}}, pools, shared);
        }
    }
    return plans;
}

// Every layout and index of tailored, from one end and from two; these and first fit by address
// behind pools; sized; partitions by first fit.
inline std::vector<Plan> reaching_plans() {
    std::vector<Plan> plans;
    for (std::uint64_t number = 0; number < std::uint64_t{2} * 3 * 2 * 3; number++) {
        const std::uint64_t high = std::array{0u, 0x0000ffffu, 0xffffff00u}[number / 12];
        const Plan::Scalars scalars = {
            {"alignment", 8 << number % 2}, {"layout", number / 2 % 3}, {"index", number / 6 % 2},
            {"ends", high != 0 ? 2 : 1},    {"high_0", high},           {"high_1", high}};
        if (scalars.at("layout") != 1 || scalars.at("index") != 1) { // that is good_fit
            plans.push_back(plain("tailored", scalars));
        }
    }
    plans.push_back(plain("good_fit"));
    const std::vector<PoolSpec> pools = {{24, 3, true}, {40, 5, true}};
    const std::vector<Plan> alone(plans.begin(), plans.begin() + 6);
    for (const Plan &shared : alone) {
        plans.emplace_back("budgeted", Plan::Scalars{{"alignment", shared.alignment()}}, pools,
                           shared);
    }
    for (const std::uint64_t alignment : {4, 8, 16}) {
        plans.push_back(plain("sized", {{"alignment", alignment}}));
    }
    const Plan by_address = plain("first_fit", {{"list", 1}});
    plans.emplace_back("budgeted", Plan::Scalars{}, pools, by_address);
    plans.emplace_back("class_pools", Plan::Scalars{}, pools, by_address);
    for (std::uint64_t number = 0; number < 6; number++) {
        plans.push_back(
            plain("partition_pool", {{"metadata", number % 2},
                                     {"partition_size", std::array{16u, 24u, 64u}[number / 2]}}));
    }
    return plans;
}

} // namespace heapfit::test
