// SPDX-License-Identifier: Apache-2.0
// A trace reduced to what budgets need: which class changed, and by how many bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

// One change of U(t): `bytes` more or less, in one class. A resize is two changes, the smaller U(t)
// first, so it adds no maximum of its own.
struct BudgetChange {
    std::int64_t bytes;
    std::uint32_t rank; // of the class: 0 is the largest size; or `no_class`
};

inline constexpr std::uint32_t no_class = UINT32_MAX;

struct BudgetClass {
    Bytes size;        // rounded up to the alignment
    std::size_t index; // in the caller's list
    std::int64_t live = 0;
    std::int64_t budget = 0;
};

struct BudgetChanges {
    std::vector<BudgetClass> classes; // in descending order of size
    std::vector<BudgetChange> changes;
    std::int64_t u_max = 0; // of the sizes so rounded
};

// Throws Error on a bad trace, on an alignment other than 4, 8 or 16, or if two sizes are one
// class.
[[nodiscard]] BudgetChanges budget_changes(std::span<const Event> events,
                                           std::span<const Bytes> sizes, std::uint32_t alignment);

} // namespace heapfit
