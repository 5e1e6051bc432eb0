// SPDX-License-Identifier: Apache-2.0
// Plans for tests of trials: of one allocator by its name, and of many.
#pragma once

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

} // namespace heapfit::test
