// SPDX-License-Identifier: Apache-2.0
// Parameters that many workloads have, each written once.
#pragma once

#include "heapfit/workload/workload.hpp"

namespace heapfit {

constexpr std::uint64_t most_events = 1'000'000'000;
constexpr Bytes largest_size = INT32_MAX; // a region has less than 4 GiB

inline WorkloadParameter events_parameter(std::uint64_t standard) {
    return {"events", "Events in all.", 1, most_events, standard};
}

inline WorkloadParameter size_parameter(const char *name, const char *meaning, Bytes standard) {
    return {name, meaning, 1, largest_size, standard};
}

inline WorkloadParameter limit_parameter() {
    return {"limit", "Most blocks of one size live at once (P_i,max).", 1, 1'000'000, 10};
}

inline WorkloadParameter percent_parameter(const char *name, const char *meaning,
                                           std::uint64_t standard) {
    return {name, meaning, 0, 100, standard};
}

// Synthetic programs (workload_programs.cpp), after those of the papers' own experiments.
[[nodiscard]] std::vector<WorkloadInfo> program_workloads();

} // namespace heapfit
