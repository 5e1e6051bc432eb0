// SPDX-License-Identifier: Apache-2.0
// The registry of allocators, and plans for them.
#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "heapfit/budget/pool_choice.hpp"
#include "heapfit/replay/plan.hpp"

namespace nb = nanobind;

namespace heapfit::bindings {

namespace {

using SizeCountExact = std::tuple<Bytes, std::uint64_t, bool>;
using SizeCountExactBase = std::tuple<Bytes, std::uint64_t, bool, std::uint64_t>;

Plan make_plan(const std::string &allocator, const Plan::Scalars &scalars,
               const std::vector<SizeCountExact> &pools, const std::optional<Plan> &shared) {
    std::vector<PoolSpec> specs;
    for (const auto &[size, count, is_exact] : pools) {
        specs.push_back({size, count, is_exact});
    }
    return Plan(allocator, scalars, specs, shared);
}

std::vector<SizeCountExactBase> pools_of(const Plan &plan) {
    std::vector<SizeCountExactBase> pools;
    for (const hfit_pool &pool : plan.pools()) {
        pools.emplace_back(pool.size, pool.count, pool.is_exact != 0, pool.base);
    }
    return pools;
}

// The tables of a plan as core's structs have them, for who prints these.
std::vector<std::vector<std::uint32_t>> pool_rows(const Plan &plan) {
    std::vector<std::vector<std::uint32_t>> rows;
    for (const hfit_pool &pool : plan.pools()) {
        rows.push_back({pool.size, pool.count, pool.is_exact, pool.base, pool.block_size,
                        pool.used_bit, pool.inverse, pool.turn});
    }
    return rows;
}

struct PoolIndex {
    std::vector<std::uint32_t> table;
    std::uint32_t own;
    std::uint32_t multiplier;
    std::uint32_t shift;
    std::uint32_t seal; // of the whole plan
};

std::optional<PoolIndex> index_of(const Plan &plan) {
    const hfit_pools_plan *const pools = plan.pools_plan();
    if (pools == nullptr) {
        return std::nullopt;
    }
    const hfit_pool_index &index = pools->index;
    return PoolIndex{{index.table, index.table + index.entries},
                     index.own,
                     index.multiplier,
                     index.shift,
                     pools->seal};
}

// For each request of so many bytes the number of the pool it is for; HFIT_NO_POOL if none.
Array<std::uint32_t> pools_for(const Plan &plan, const Column<Bytes> &sizes) {
    const PoolChoice choice(plan);
    std::vector<std::uint32_t> pools;
    pools.reserve(sizes.size());
    for (const Bytes size : as_span(sizes)) {
        pools.push_back(choice.choose(size, plan.alignment()));
    }
    return to_array(std::move(pools));
}

std::string kind_of(const hfit_tunable &tunable) {
    switch (tunable.kind) {
    case HFIT_POOLS:
        return "pools";
    case HFIT_SHARED:
        return "shared";
    default:
        return "scalar";
    }
}

// In the order of hfit_code_effect, hfit_free_lists and hfit_limit.
constexpr std::array EFFECTS{"choice", "switch", "amount"};
constexpr std::array FREE_LISTS{"unknown", "none", "classes", "single"};
constexpr std::array LIMITS{"unknown", "blocks", "partitions", "pools",
                            "sizes",   "holes",  "buddies",    "powers"};

using Text = std::optional<std::string>;

Text text_of(const char *text) {
    return text == nullptr ? std::nullopt : Text(text);
}

std::vector<Text> texts_of(const hfit_axis &axis) {
    std::vector<Text> texts;
    for (const char *const text : axis.texts) {
        texts.push_back(text_of(text));
    }
    return texts;
}

std::vector<const hfit_axis *> axes_of(const hfit_allocator &allocator) {
    const hfit_axes &axes = allocator.axes;
    return {&axes.block_sizes, &axes.splitting, &axes.coalescing, &axes.pools,
            &axes.pool_fit,    &axes.block_fit, &axes.order,      &axes.growth};
}

std::vector<std::pair<std::string, std::vector<std::uint32_t>>>
grid_of(const hfit_allocator &allocator) {
    std::vector<std::pair<std::string, std::vector<std::uint32_t>>> grid;
    for (const hfit_grid_line &line : allocator.grid) {
        if (line.tunable != nullptr) {
            grid.push_back({line.tunable, {line.values, line.values + line.count}});
        }
    }
    return grid;
}

std::vector<const hfit_tunable *> tunables_of(const hfit_allocator &allocator) {
    std::vector<const hfit_tunable *> tunables;
    for (std::uint32_t i = 0; i < allocator.tunable_count; i++) {
        tunables.push_back(&allocator.tunables[i]);
    }
    return tunables;
}

std::vector<const hfit_allocator *> all_allocators() {
    const auto registered = registered_allocators();
    return {registered.begin(), registered.end()};
}

// Texts of the account are None where the descriptor leaves them out.
void bind_account(nb::class_<hfit_allocator> &allocators) {
    allocators
        .def_prop_ro(
            "worst_case",
            [](const hfit_allocator &allocator) { return text_of(allocator.account.worst_case); })
        .def_prop_ro(
            "block_bytes",
            [](const hfit_allocator &allocator) { return text_of(allocator.account.block_bytes); })
        .def_prop_ro("fragmentation",
                     [](const hfit_allocator &allocator) {
                         return text_of(allocator.account.fragmentation);
                     })
        .def_prop_ro("layout", [](const hfit_allocator &allocator) {
            return text_of(allocator.account.layout);
        });
}

void bind_allocators(nb::module_ &module) {
    nb::class_<hfit_allocator> allocators(module, "AllocatorInfo",
                                          "What an allocator says of itself.");
    bind_account(allocators);
    allocators.def_prop_ro("name", [](const hfit_allocator &allocator) { return allocator.name; })
        .def_prop_ro("title", [](const hfit_allocator &allocator) { return allocator.title; })
        .def_prop_ro("origin", [](const hfit_allocator &allocator) { return allocator.origin; })
        .def_prop_ro(
            "alias", [](const hfit_allocator &allocator) { return text_of(allocator.alias); },
            "Another name that many know it by; None if there is none.")
        .def_prop_ro("ships", &ships, "True for core's, false for a baseline.")
        .def_prop_ro("is_of_papers", &is_of_papers,
                     "True for one that only a paper is reproduced with.")
        .def_ro("ignores_region_end", &hfit_allocator::ignores_region_end)
        .def_prop_ro(
            "in_pieces",
            [](const hfit_allocator &allocator) { return allocator.next_piece != nullptr; },
            "True if a block may lie in pieces, which only callers that follow them can use.")
        .def_ro("needs_size", &hfit_allocator::needs_size,
                "True if callers hand the size of a block over when they free or resize it.")
        .def_prop_ro(
            "takes_tags",
            [](const hfit_allocator &allocator) { return allocator.alloc_at != nullptr; },
            "True if blocks may be placed by the tag of the call site, too.")
        .def_prop_ro("axes", &axes_of, nb::rv_policy::reference,
                     "In the order of hfit_axes (hfit/descriptor.h).")
        .def_prop_ro("grid", &grid_of, "Values of tunables worth trying.")
        .def_prop_ro(
            "free_lists",
            [](const hfit_allocator &allocator) { return FREE_LISTS.at(allocator.free_lists); },
            "How free blocks are kept: 'unknown', 'none', 'classes' or 'single'.")
        .def_prop_ro(
            "address_order",
            [](const hfit_allocator &allocator) { return text_of(allocator.address_order); },
            "The tunable that orders a single list by address where it is not 0; None if none.")
        .def_prop_ro(
            "limit", [](const hfit_allocator &allocator) { return LIMITS.at(allocator.limit); },
            "What is missing when a request is refused; 'unknown' if that is not told.")
        .def_prop_ro("tunables", &tunables_of, nb::rv_policy::reference);
    module.def("allocators", &all_allocators, nb::rv_policy::reference,
               "Every allocator: core's in the order of core/allocators.def, then baselines, then "
               "the papers'.");
}

void bind_descriptors(nb::module_ &module) {
    nb::class_<hfit_tunable>(module, "Tunable", "A value that a plan of an allocator may set.")
        .def_prop_ro("name", [](const hfit_tunable &tunable) { return tunable.name; })
        .def_prop_ro("meaning", [](const hfit_tunable &tunable) { return tunable.meaning; })
        .def_prop_ro("kind", &kind_of, "'scalar', 'pools' or 'shared'.")
        .def_ro("lowest", &hfit_tunable::lowest)
        .def_ro("highest", &hfit_tunable::highest)
        .def_ro("standard", &hfit_tunable::standard)
        .def_prop_ro(
            "effect", [](const hfit_tunable &tunable) { return EFFECTS.at(tunable.effect); },
            "On a build's code, of other values: 'choice', 'switch' or 'amount'.");
    nb::class_<hfit_axis>(module, "Axis", "An allocator's value on an axis of the design space.")
        .def_prop_ro("text", [](const hfit_axis &axis) { return text_of(axis.text); })
        .def_prop_ro("tunable", [](const hfit_axis &axis) { return text_of(axis.tunable); })
        .def_prop_ro("texts", &texts_of, "By the tunable's value, from 0 on.");
    nb::class_<hfit_holes>(module, "Holes", "Chunks of a plan, in bytes (hfit/descriptor.h).")
        .def_ro("header", &hfit_holes::header)
        .def_ro("smallest_chunk", &hfit_holes::smallest_chunk)
        .def_ro("spare", &hfit_holes::spare)
        .def_ro("class_log2", &hfit_holes::class_log2)
        .def_ro("is_by_address", &hfit_holes::is_by_address);
    bind_allocators(module);
}

} // namespace

void bind_plan(nb::module_ &module) {
    bind_descriptors(module);
    module.attr("NO_POOL") = HFIT_NO_POOL;
    nb::class_<PoolIndex>(module, "PoolIndex", "The words of an hfit_pool_index, and the seal.")
        .def_ro("table", &PoolIndex::table)
        .def_ro("own", &PoolIndex::own)
        .def_ro("multiplier", &PoolIndex::multiplier)
        .def_ro("shift", &PoolIndex::shift)
        .def_ro("seal", &PoolIndex::seal);
    nb::class_<Plan>(module, "Plan", "A design: an allocator and a value for each of its tunables.")
        .def(nb::new_(&make_plan), nb::arg("allocator"), nb::arg("scalars") = Plan::Scalars{},
             nb::arg("pools") = std::vector<SizeCountExact>{}, nb::arg("shared") = nb::none(),
             "Pools are (size, count, is_exact); what is left out has its standard value.")
        .def_prop_ro("allocator", [](const Plan &plan) { return plan.allocator().name; })
        .def_prop_ro("scalars", &Plan::scalars)
        .def_prop_ro("pools", &pools_of, "(size, count, is_exact, base), ascending by size.")
        .def_prop_ro("pool_rows", &pool_rows, "The words of each hfit_pool, in its order.")
        .def_prop_ro("pool_index", &index_of,
                     "What hfit_<name>_complete adds to a plan; None for one without pools.")
        .def_prop_ro("shared", &Plan::shared)
        .def("pools_for", &pools_for, nb::arg("sizes"),
             "The number of the pool that each request is for; NO_POOL if none.")
        .def("holes", &Plan::holes, nb::arg("live"),
             "Of so many live bytes at most; None where nothing is proven of the plan.")
        .def_prop_ro("tries_other_pools", &Plan::tries_other_pools)
        .def_prop_ro("smallest_region", &Plan::smallest_region, "Bytes.")
        .def_prop_ro("alignment", &Plan::alignment);
}

} // namespace heapfit::bindings
