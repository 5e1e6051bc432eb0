// SPDX-License-Identifier: Apache-2.0
#include "heapfit/budget/exhaustive.hpp"

#include <algorithm>
#include <string>

#include "budget/changes.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

std::vector<std::int64_t> find_peaks(const BudgetChanges &reduced) {
    std::vector<std::int64_t> live(reduced.classes.size());
    std::vector<std::int64_t> peaks(reduced.classes.size());
    for (const BudgetChange &change : reduced.changes) {
        if (change.rank != no_class) {
            live[change.rank] += change.bytes > 0 ? 1 : -1;
            peaks[change.rank] = std::max(peaks[change.rank], live[change.rank]);
        }
    }
    return peaks;
}

// Whether U^B(t) (equation 4) stays at or below U_max with the budgets of the classes.
bool is_allowed(const BudgetChanges &reduced, std::span<BudgetClass> classes) {
    std::int64_t bytes = 0;
    for (BudgetClass &one : classes) {
        one.live = 0;
        bytes += one.budget * static_cast<std::int64_t>(one.size);
    }
    for (const BudgetChange &change : reduced.changes) {
        if (bytes > reduced.u_max) {
            return false;
        }
        if (change.rank == no_class) {
            bytes += change.bytes;
            continue;
        }
        BudgetClass &one = classes[change.rank];
        const std::int64_t before = std::max(one.live, one.budget);
        one.live += change.bytes > 0 ? 1 : -1;
        bytes += (std::max(one.live, one.budget) - before) * static_cast<std::int64_t>(one.size);
    }
    return bytes <= reduced.u_max;
}

// The next combination, the last class fastest; false after the last.
bool next_combination(std::span<BudgetClass> classes, std::span<const std::int64_t> peaks) {
    for (std::size_t rank = classes.size(); rank-- > 0;) {
        if (classes[rank].budget++ < peaks[rank]) {
            return true;
        }
        classes[rank].budget = 0;
    }
    return false;
}

void refuse_too_many(std::span<const std::int64_t> peaks, std::uint64_t most) {
    std::uint64_t combinations = 1;
    for (const std::int64_t peak : peaks) {
        const auto choices = static_cast<std::uint64_t>(peak) + 1;
        if (choices > most / combinations) {
            throw Error("budget: more than " + std::to_string(most) +
                        " combinations of budgets (take fewer sizes, or exact budgets)");
        }
        combinations *= choices;
    }
}

} // namespace

BudgetEnumeration exhaustive_budgets(std::span<const Event> events, std::span<const Bytes> sizes,
                                     std::uint32_t alignment, std::uint64_t most_combinations) {
    BudgetChanges reduced = budget_changes(events, sizes, alignment);
    std::vector<BudgetClass> &classes = reduced.classes;
    const std::vector<std::int64_t> peaks = find_peaks(reduced);
    refuse_too_many(peaks, most_combinations);
    BudgetEnumeration found;
    found.counts.resize(classes.size());
    do {
        found.combinations++;
        std::uint64_t dedicated = 0;
        for (const BudgetClass &one : classes) {
            dedicated += static_cast<std::uint64_t>(one.budget) * one.size;
        }
        if (is_allowed(reduced, classes) && dedicated > found.dedicated) {
            found.dedicated = dedicated;
            for (const BudgetClass &one : classes) {
                found.counts[one.index] = static_cast<std::uint64_t>(one.budget);
            }
        }
    } while (next_combination(classes, peaks));
    return found;
}

} // namespace heapfit
