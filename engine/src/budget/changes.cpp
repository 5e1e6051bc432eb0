// SPDX-License-Identifier: Apache-2.0
#include "budget/changes.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"
#include "heapfit/trace/follow.hpp"

namespace heapfit {

namespace {

constexpr Bytes round_up(Bytes size, Bytes alignment) {
    return (std::max<Bytes>(size, 1) + alignment - 1) / alignment * alignment;
}

// The classes in descending order of size.
std::vector<BudgetClass> rank_classes(std::span<const Bytes> sizes, std::uint32_t alignment) {
    std::vector<BudgetClass> classes;
    for (std::size_t i = 0; i < sizes.size(); i++) {
        if (sizes[i] > largest_request) {
            throw Error("budget: size " + std::to_string(sizes[i]) + " is above 2^47 bytes");
        }
        classes.push_back({round_up(sizes[i], alignment), i});
    }
    std::ranges::sort(classes, std::ranges::greater{}, &BudgetClass::size);
    const auto twin = std::ranges::adjacent_find(classes, {}, &BudgetClass::size);
    if (twin != classes.end()) {
        throw Error("budget: two sizes round up to " + std::to_string(twin->size) +
                    " bytes at alignment " + std::to_string(alignment) + " (give one of them)");
    }
    return classes;
}

// Reduces a trace to its changes.
struct Reduce {
    struct Object {
        Bytes size; // rounded
        std::uint32_t rank;
    };

    std::span<const BudgetClass> classes;
    std::uint32_t alignment;
    std::vector<BudgetChange> changes;
    std::int64_t live = 0;
    std::int64_t u_max = 0;

    bool allocated(std::size_t, const Event &event, Object &object) {
        object.size = round_up(event.size, alignment);
        const auto found = std::ranges::lower_bound(classes, object.size, std::ranges::greater{},
                                                    &BudgetClass::size);
        object.rank = found != classes.end() && found->size == object.size
                          ? static_cast<std::uint32_t>(found - classes.begin())
                          : no_class;
        const auto bytes = static_cast<std::int64_t>(object.size);
        if (bytes > INT64_MAX - live) {
            return false;
        }
        live += bytes;
        u_max = std::max(u_max, live);
        changes.push_back({bytes, object.rank});
        return true;
    }

    bool freed(std::size_t, const Event &, const Object &object) {
        const auto bytes = static_cast<std::int64_t>(object.size);
        live -= bytes;
        changes.push_back({-bytes, object.rank});
        return true;
    }

    bool resized(std::size_t i, const Event &event, Object &object) {
        return freed(i, event, object) && allocated(i, event, object);
    }
};

void reduce(std::span<const Event> events, Reduce &reduction) {
    ObjectTable<Reduce::Object> objects;
    reduction.changes.reserve(events.size());
    const Followed followed = follow(events, objects, reduction);
    if (followed.is_bad) {
        throw_bad_event(followed.count, events[followed.count], objects.next());
    }
    if (followed.count < events.size()) {
        throw Error("event " + std::to_string(followed.count) +
                    ": the live bytes reach 2^63 (no program holds as much)");
    }
}

} // namespace

BudgetChanges budget_changes(std::span<const Event> events, std::span<const Bytes> sizes,
                             std::uint32_t alignment) {
    if (alignment != 4 && alignment != 8 && alignment != 16) {
        throw Error("budget: alignment " + std::to_string(alignment) + " is not 4, 8 or 16");
    }
    std::vector<BudgetClass> classes = rank_classes(sizes, alignment);
    Reduce reduction{classes, alignment, {}};
    reduce(events, reduction);
    return {std::move(classes), std::move(reduction.changes), reduction.u_max};
}

} // namespace heapfit
