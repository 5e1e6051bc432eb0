// SPDX-License-Identifier: Apache-2.0
// Figure 4 of Lee and Yi 2008 over a trace reduced to what it needs: which class changed, and by
// how many bytes.
#include "heapfit/budget.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"
#include "heapfit/follow.hpp"

namespace heapfit {

namespace {

// One change of U(t): `bytes` more or less, in one class. A resize is two changes, the smaller U(t)
// first, so it adds no maximum of its own.
struct Change {
    std::int64_t bytes;
    std::uint32_t rank; // of the class: 0 is the largest size; or `no_class`
};

constexpr std::uint32_t no_class = UINT32_MAX;

struct Class {
    Bytes size;        // rounded
    std::size_t index; // in the caller's list
    std::int64_t live = 0;
    std::int64_t budget = 0;
};

constexpr Bytes round_up(Bytes size, Bytes alignment) {
    return (std::max<Bytes>(size, 1) + alignment - 1) / alignment * alignment;
}

// The classes in descending order of size.
std::vector<Class> rank_classes(std::span<const Bytes> sizes, std::uint32_t alignment) {
    std::vector<Class> classes;
    for (std::size_t i = 0; i < sizes.size(); i++) {
        if (sizes[i] > largest_request) {
            throw Error("budget: size " + std::to_string(sizes[i]) + " is above 2^47 bytes");
        }
        classes.push_back({round_up(sizes[i], alignment), i});
    }
    std::ranges::sort(classes, std::ranges::greater{}, &Class::size);
    const auto twin = std::ranges::adjacent_find(classes, {}, &Class::size);
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

    std::span<const Class> classes;
    std::uint32_t alignment;
    std::vector<Change> changes;
    std::int64_t live = 0;
    std::int64_t u_max = 0;

    bool allocated(std::size_t, const Event &event, Object &object) {
        object.size = round_up(event.size, alignment);
        const auto found =
            std::ranges::lower_bound(classes, object.size, std::ranges::greater{}, &Class::size);
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

// The largest budget of class `rank`, those before it being set.
std::int64_t budget_of(std::span<const Change> changes, std::span<Class> classes,
                       std::uint32_t rank, std::int64_t u_max) {
    // The bytes that are not for this class, U_max - M_i(t), and their largest value.
    std::int64_t others = 0;
    for (std::uint32_t j = 0; j < rank; j++) {
        others += classes[j].budget * static_cast<std::int64_t>(classes[j].size);
        classes[j].live = 0;
    }
    std::int64_t others_max = others;
    std::int64_t live = 0;
    std::int64_t peak = 0;
    for (const Change &change : changes) {
        if (change.rank == rank) {
            live += change.bytes > 0 ? 1 : -1;
            peak = std::max(peak, live);
            continue;
        }
        if (change.rank < rank) {
            // Dedicated blocks are set aside anyway: only blocks beyond the budget change the sum.
            Class &larger = classes[change.rank];
            const std::int64_t before = std::max(larger.live, larger.budget);
            larger.live += change.bytes > 0 ? 1 : -1;
            others += (std::max(larger.live, larger.budget) - before) *
                      static_cast<std::int64_t>(larger.size);
        } else {
            others += change.bytes;
        }
        others_max = std::max(others_max, others);
    }
    return std::min(peak, (u_max - others_max) / static_cast<std::int64_t>(classes[rank].size));
}

} // namespace

std::vector<std::uint64_t> greedy_budgets(std::span<const Event> events,
                                          std::span<const Bytes> sizes, std::uint32_t alignment) {
    if (alignment != 4 && alignment != 8 && alignment != 16) {
        throw Error("budget: alignment " + std::to_string(alignment) + " is not 4, 8 or 16");
    }
    std::vector<Class> classes = rank_classes(sizes, alignment);
    Reduce reduction{classes, alignment, {}};
    reduce(events, reduction);
    std::vector<std::uint64_t> budgets(sizes.size());
    for (std::uint32_t rank = 0; rank < classes.size(); rank++) {
        classes[rank].budget = budget_of(reduction.changes, classes, rank, reduction.u_max);
        budgets[classes[rank].index] = static_cast<std::uint64_t>(classes[rank].budget);
    }
    return budgets;
}

} // namespace heapfit
