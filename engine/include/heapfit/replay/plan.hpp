// SPDX-License-Identifier: Apache-2.0
// Plans for any registered allocator, built from names and values by its descriptor's tunables.
//
//   Plan -> allocator's plan struct    a tunable lies at its offset:
//           | alignment | ... |        HFIT_SCALAR  the value
//           | pools.items ----+--->    HFIT_POOLS   the pools, laid out, owned by the Plan
//           | index.table ----+--->                 and the index made of them
//           | shared.plan ----+--->    HFIT_SHARED  another Plan, owned by the Plan
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hfit/descriptor.h"
#include "hfit/pools.h"

#include "heapfit/event.hpp"

namespace heapfit {

// Every allocator there is: core's in the order of allocators.def, then the baselines.
[[nodiscard]] std::span<const hfit_allocator *const> registered_allocators();

// True if the allocator is core's, which firmware may have; false for a baseline.
[[nodiscard]] bool ships(const hfit_allocator &allocator);

// True if it is there only to reproduce a paper: known by name, and offered to nobody.
[[nodiscard]] bool is_of_papers(const hfit_allocator &allocator);

// A registered allocator by name; Error, with the names there are, if there is none.
[[nodiscard]] const hfit_allocator &find_allocator(std::string_view name);

struct PoolSpec {
    Bytes size;
    std::uint64_t count;
    bool is_exact;
};

// An immutable plan; copies share what it owns. What a plan leaves out has the tunable's standard
// value.
class Plan {
  public:
    using Scalars = std::map<std::string, std::uint64_t>;

    // Throws Error on an unknown name, a value out of range, or pools that cannot be laid out.
    Plan(std::string_view allocator, const Scalars &scalars, const std::vector<PoolSpec> &pools,
         const std::optional<Plan> &shared);

    // The same plan over the build of core for trials: it places alike, and nothing is counted or
    // checked (trial_config.h). Made at the first call; from several threads at once, too.
    [[nodiscard]] const Plan &for_trials() const;

    [[nodiscard]] const hfit_allocator &allocator() const;
    [[nodiscard]] const hfit_operations &operations() const { return *allocator().operations; }
    [[nodiscard]] const hfit_plan *raw() const;

    // The value of every scalar tunable.
    [[nodiscard]] const Scalars &scalars() const;

    // In ascending order of size, laid out.
    [[nodiscard]] std::span<const hfit_pool> pools() const;

    // The plan struct of an allocator of pools; nullptr for any other.
    [[nodiscard]] const hfit_pools_plan *pools_plan() const;

    [[nodiscard]] const std::optional<Plan> &shared() const;
    [[nodiscard]] std::uint32_t alignment() const { return raw()->alignment; }

    // True if no placement depends on where the region ends: the allocator says so, or it is pools
    // that do not grow, whose places are fixed, over a shared allocator that says so.
    [[nodiscard]] bool ignores_region_end() const;

    // The plan of what lies up to the region's end: the shared one behind pools that do not grow,
    // at their end; else this plan.
    [[nodiscard]] const Plan &at_region_end() const;

    // What the allocator tells of its chunks (hfit/descriptor.h); nothing where it proves nothing.
    [[nodiscard]] std::optional<hfit_holes> holes(Bytes live) const;

    // True if a request whose pool is full is tried in another pool.
    [[nodiscard]] bool tries_other_pools() const;

    // Asked once of the allocator, which checks all pools for it.
    [[nodiscard]] std::size_t smallest_region() const;

  private:
    struct Parts;
    Plan(const hfit_allocator &allocator, const Scalars &scalars,
         const std::vector<PoolSpec> &pools, const std::optional<Plan> &shared);

    std::shared_ptr<const Parts> parts_;
};

} // namespace heapfit
