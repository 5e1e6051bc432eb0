// SPDX-License-Identifier: Apache-2.0
// Writes values into a plan struct at the offsets that the descriptor's tunables give.
#include "heapfit/replay/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <mutex>

#include "baselines/registry.h"
#include "heapfit/error.hpp"
#include "papers/registry.h"

// The registries of the build for trials, as engine/CMakeLists.txt names them.
extern "C" {
const hfit_allocator *const *trial_hfit_allocators(size_t *count);
const hfit_allocator *const *trial_hfit_baselines(size_t *count);
const hfit_allocator *const *trial_hfit_papers(size_t *count);
}

namespace heapfit {

namespace {

using Registry = const hfit_allocator *const *(*)(size_t *);

std::span<const hfit_allocator *const> listed(Registry registry) {
    std::size_t count = 0;
    const hfit_allocator *const *const first = registry(&count);
    return {first, count};
}

std::vector<const hfit_allocator *> joined(std::initializer_list<Registry> registries) {
    std::vector<const hfit_allocator *> all;
    for (const Registry registry : registries) {
        const auto some = listed(registry);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

// The allocator of the same name in the build for trials. Both builds have the same registries.
const hfit_allocator &twin_for_trials(const hfit_allocator &allocator) {
    static const auto twins =
        joined({trial_hfit_allocators, trial_hfit_baselines, trial_hfit_papers});
    const std::string_view name = allocator.name;
    const auto is_twin = [name](const hfit_allocator *twin) { return twin->name == name; };
    return **std::ranges::find_if(twins, is_twin);
}

std::span<const hfit_tunable> tunables_of(const hfit_allocator &allocator) {
    return {allocator.tunables, allocator.tunable_count};
}

[[noreturn]] void refuse(const hfit_allocator &allocator, const std::string &what) {
    throw Error("plan: " + std::string(allocator.name) + ": " + what);
}

void append(std::string &list, std::string_view item, std::string_view separator = ", ") {
    if (!list.empty()) {
        list += separator;
    }
    list += item;
}

const hfit_tunable *find_tunable(const hfit_allocator &allocator, hfit_tunable_kind kind) {
    const auto tunables = tunables_of(allocator);
    const auto found = std::ranges::find(tunables, kind, &hfit_tunable::kind);
    return found == tunables.end() ? nullptr : &*found;
}

std::string scalar_names(const hfit_allocator &allocator) {
    std::string names;
    for (const hfit_tunable &tunable : tunables_of(allocator)) {
        if (tunable.kind == HFIT_SCALAR) {
            append(names, tunable.name);
        }
    }
    return names;
}

void require_known(const hfit_allocator &allocator, const Plan::Scalars &scalars) {
    for (const auto &[name, value] : scalars) {
        const bool is_known = std::ranges::any_of(
            tunables_of(allocator), [&, &wanted = name](const hfit_tunable &tunable) {
                return tunable.kind == HFIT_SCALAR && tunable.name == wanted;
            });
        if (!is_known) {
            refuse(allocator,
                   "no tunable is named '" + name + "' (it has " + scalar_names(allocator) + ")");
        }
    }
}

std::uint32_t checked_value(const hfit_allocator &allocator, const hfit_tunable &tunable,
                            const Plan::Scalars &scalars) {
    const auto given = scalars.find(tunable.name);
    if (given == scalars.end()) {
        return tunable.standard;
    }
    if (given->second < tunable.lowest || given->second > tunable.highest) {
        refuse(allocator, std::string(tunable.name) + " " + std::to_string(given->second) +
                              " is out of range (" + std::to_string(tunable.lowest) + " to " +
                              std::to_string(tunable.highest) + ")");
    }
    return static_cast<std::uint32_t>(given->second);
}

hfit_pool checked_pool(const hfit_allocator &allocator, const PoolSpec &pool) {
    if (pool.size == 0 || pool.size > INT32_MAX || pool.count > INT32_MAX) {
        refuse(allocator, "a pool of " + std::to_string(pool.count) + " blocks of " +
                              std::to_string(pool.size) +
                              " bytes (size must be 1 to 2147483647, count at most that)");
    }
    hfit_pool checked{};
    checked.size = static_cast<std::uint32_t>(pool.size);
    checked.count = static_cast<std::uint32_t>(pool.count);
    checked.is_exact = pool.is_exact;
    return checked;
}

struct LaidOut {
    std::vector<hfit_pool> pools;
    std::uint32_t end;
};

// Sorted by size and laid out.
LaidOut lay_out(const hfit_allocator &allocator, const std::vector<PoolSpec> &specs,
                std::uint32_t alignment) {
    std::vector<hfit_pool> pools;
    for (const PoolSpec &spec : specs) {
        pools.push_back(checked_pool(allocator, spec));
    }
    std::ranges::sort(pools, {}, &hfit_pool::size);
    const auto twin = std::ranges::adjacent_find(pools, {}, &hfit_pool::size);
    if (twin != pools.end()) {
        refuse(allocator, "two pools have the size " + std::to_string(twin->size));
    }
    const auto count = static_cast<std::uint32_t>(pools.size());
    const std::uint32_t end = hfit_pools_lay_out(pools.data(), count, alignment);
    if (end == 0) {
        refuse(allocator, std::to_string(count) + " pools cannot be laid out at alignment " +
                              std::to_string(alignment) +
                              " (they must end below 2 GiB, and be at most 4096)");
    }
    return {std::move(pools), end};
}

// Each value is in range, but the allocator does not take them; its tunables' meanings say why.
[[noreturn]] void refuse_combination(const hfit_allocator &allocator,
                                     const Plan::Scalars &scalars) {
    std::string values;
    std::string meanings;
    for (const hfit_tunable &tunable : tunables_of(allocator)) {
        const auto value = scalars.find(tunable.name);
        if (value != scalars.end()) {
            append(values, value->first + " " + std::to_string(value->second));
        }
        append(meanings, tunable.meaning, " ");
    }
    refuse(allocator, "a plan with " + values + " is not valid (" + meanings + ")");
}

} // namespace

struct Plan::Parts {
    const hfit_allocator *allocator;
    Scalars scalars;
    std::vector<PoolSpec> specs;
    std::vector<hfit_pool> pools;
    std::vector<std::uint8_t> index; // the table that finds a request's pool
    std::optional<Plan> shared;
    std::vector<std::uint64_t> plan; // the allocator's plan struct; zero where nothing is written
    std::size_t smallest_region = 0;
    mutable std::once_flag has_twin;
    mutable std::optional<Plan> twin; // for trials

    template <typename Value> void write(const hfit_tunable &tunable, const Value &value) {
        std::memcpy(reinterpret_cast<std::byte *>(plan.data()) + tunable.offset, &value,
                    sizeof value);
    }

    void write_scalars(const Scalars &given);
    void write_pools(const std::vector<PoolSpec> &specs);
    void complete();
    void write_shared();

    [[nodiscard]] const hfit_plan *raw() const {
        return reinterpret_cast<const hfit_plan *>(plan.data());
    }
};

void Plan::Parts::write_scalars(const Scalars &given) {
    require_known(*allocator, given);
    for (const hfit_tunable &tunable : tunables_of(*allocator)) {
        if (tunable.kind == HFIT_SCALAR) {
            const std::uint32_t value = checked_value(*allocator, tunable, given);
            scalars[tunable.name] = value;
            write(tunable, value);
        }
    }
}

void Plan::Parts::write_pools(const std::vector<PoolSpec> &specs) {
    const hfit_tunable *const tunable = find_tunable(*allocator, HFIT_POOLS);
    if (tunable == nullptr && !specs.empty()) {
        refuse(*allocator, "this allocator takes no pools");
    }
    if (!specs.empty()) {
        LaidOut made = lay_out(*allocator, specs, raw()->alignment);
        pools = std::move(made.pools);
        const auto count = static_cast<std::uint32_t>(pools.size());
        write(*tunable, hfit_pool_list{pools.data(), count, made.end});
    }
}

// Allocators of pools have an hfit_pools_plan (descriptor.h). Whether it is sound is asked later.
void Plan::Parts::complete() {
    if (allocator->complete != nullptr) {
        auto *const own = reinterpret_cast<hfit_pools_plan *>(plan.data());
        index.resize(HFIT_LARGEST_POOL_INDEX);
        (void)allocator->complete(own, index.data(), HFIT_LARGEST_POOL_INDEX);
        index.resize(own->index.entries);
    }
}

void Plan::Parts::write_shared() {
    if (!shared) {
        return; // both pointers stay null: there is no shared heap
    }
    const hfit_tunable *const tunable = find_tunable(*allocator, HFIT_SHARED);
    if (tunable == nullptr) {
        refuse(*allocator, "this allocator takes no shared allocator");
    }
    if (shared->allocator().next_piece != nullptr) {
        refuse(*allocator, std::string(shared->allocator().name) +
                               " cannot be shared: its blocks lie in pieces, which pools cannot "
                               "move");
    }
    if (shared->allocator().needs_size) {
        refuse(*allocator, std::string(shared->allocator().name) +
                               " cannot be shared: it needs the sizes of blocks, which pools do "
                               "not hand on");
    }
    if (shared->allocator().unlocked == nullptr) {
        refuse(*allocator, std::string(shared->allocator().name) +
                               " cannot be shared: its descriptor has no operations without lock");
    }
    if (shared->alignment() != raw()->alignment) {
        refuse(*allocator, "alignment " + std::to_string(raw()->alignment) + " differs from " +
                               std::to_string(shared->alignment()) + " of the shared " +
                               shared->allocator().name + " (give both the same)");
    }
    write(*tunable, hfit_shared{shared->allocator().unlocked, shared->raw()});
}

Plan::Plan(std::string_view allocator, const Scalars &scalars, const std::vector<PoolSpec> &pools,
           const std::optional<Plan> &shared)
    : Plan(find_allocator(allocator), scalars, pools, shared) {}

Plan::Plan(const hfit_allocator &allocator, const Scalars &scalars,
           const std::vector<PoolSpec> &pools, const std::optional<Plan> &shared) {
    const auto parts = std::make_shared<Parts>();
    parts->allocator = &allocator;
    parts->specs = pools;
    parts->shared = shared;
    parts->plan.resize((parts->allocator->plan_size + 7) / 8);
    parts->write_scalars(scalars);
    parts->write_pools(pools);
    parts->write_shared();
    parts->complete();
    parts->smallest_region = parts->allocator->operations->smallest_region(parts->raw());
    if (parts->smallest_region == 0) {
        refuse_combination(*parts->allocator, parts->scalars);
    }
    parts_ = parts;
}

const Plan &Plan::for_trials() const {
    std::call_once(parts_->has_twin, [this] {
        const auto shared =
            parts_->shared ? std::optional(parts_->shared->for_trials()) : std::nullopt;
        parts_->twin = Plan(twin_for_trials(allocator()), parts_->scalars, parts_->specs, shared);
    });
    return *parts_->twin;
}

const hfit_allocator &Plan::allocator() const {
    return *parts_->allocator;
}

const hfit_plan *Plan::raw() const {
    return parts_->raw();
}

std::size_t Plan::smallest_region() const {
    return parts_->smallest_region;
}

const Plan::Scalars &Plan::scalars() const {
    return parts_->scalars;
}

std::span<const hfit_pool> Plan::pools() const {
    return parts_->pools;
}

const hfit_pools_plan *Plan::pools_plan() const {
    return allocator().complete == nullptr ? nullptr
                                           : reinterpret_cast<const hfit_pools_plan *>(raw());
}

const std::optional<Plan> &Plan::shared() const {
    return parts_->shared;
}

bool Plan::ignores_region_end() const {
    return pools_plan() == nullptr ? allocator().ignores_region_end
                                   : shared() && shared()->ignores_region_end();
}

const Plan &Plan::at_region_end() const {
    return pools_plan() != nullptr && shared() ? *shared() : *this;
}

std::optional<hfit_holes> Plan::holes(Bytes live) const {
    hfit_holes told{};
    const bool is_proven = allocator().holes != nullptr && allocator().holes(raw(), live, &told);
    return is_proven ? std::optional(told) : std::nullopt;
}

bool Plan::tries_other_pools() const {
    const hfit_pools_plan *const plan = pools_plan();
    const auto is_tried_after = [&](const hfit_pool &pool) {
        const auto number = static_cast<std::uint32_t>(&pool - pools().data());
        return allocator().next_pool(plan, pool.size, number) != HFIT_NO_POOL;
    };
    return plan != nullptr && std::ranges::any_of(pools(), is_tried_after);
}

std::span<const hfit_allocator *const> registered_allocators() {
    static const auto all = joined({hfit_allocators, hfit_baselines, hfit_papers});
    return all;
}

bool ships(const hfit_allocator &allocator) {
    return std::ranges::count(listed(hfit_allocators), &allocator) != 0;
}

bool is_of_papers(const hfit_allocator &allocator) {
    return std::ranges::count(listed(hfit_papers), &allocator) != 0;
}

const hfit_allocator &find_allocator(std::string_view name) {
    std::string names;
    for (const hfit_allocator *const allocator : registered_allocators()) {
        if (allocator->name == name) {
            return *allocator;
        }
        append(names, allocator->name);
    }
    throw Error("plan: no allocator is named '" + std::string(name) + "' (there are " + names +
                ")");
}

} // namespace heapfit
