// SPDX-License-Identifier: Apache-2.0
// Synthetic workloads: what a model of a program asks of its heap, drawn from a seed. The same
// name, parameters and seed give the same events on every machine (random.hpp).
//
//   workloads()        name, origin, parameters with standard values
//        |
//   WorkloadSource     -> columns of the stored trace, a batch at a time, as from an importer
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/trace/builder.hpp"

namespace heapfit {

struct WorkloadParameter {
    const char *name;
    const char *meaning; // one sentence, unit included
    std::uint64_t lowest;
    std::uint64_t highest;
    std::uint64_t standard;
};

// Values of parameters by name.
using WorkloadValues = std::map<std::string, std::uint64_t, std::less<>>;

// The next request of a model; none at its end. Ids are the model's own: slots, or ordinals.
using WorkloadLaw = std::function<std::optional<Request>()>;

struct WorkloadInfo {
    const char *name;
    const char *title;  // a few words for a table
    const char *origin; // who describes it, and what was added where the description is silent
    std::vector<WorkloadParameter> parameters;
    WorkloadLaw (*make)(const WorkloadValues &values, std::uint64_t seed);
};

// Every workload there is. A new one is a line of the list in workload.cpp.
[[nodiscard]] std::span<const WorkloadInfo> workloads();

class WorkloadSource {
  public:
    // Parameters that are not given have their standard values. Throws Error, telling what there
    // is, for an unknown name, an unknown parameter, or values out of range.
    WorkloadSource(std::string_view name, const WorkloadValues &given, std::uint64_t seed);

    [[nodiscard]] const WorkloadInfo &info() const { return info_; }

    // Of every parameter.
    [[nodiscard]] const WorkloadValues &values() const { return values_; }

    // The next events, at most `most`; none once all are taken.
    [[nodiscard]] TraceColumns take(std::size_t most);

  private:
    const WorkloadInfo &info_;
    WorkloadValues values_;
    WorkloadLaw law_;
    TraceBuilder builder_;
};

} // namespace heapfit
