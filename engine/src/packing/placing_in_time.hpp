// SPDX-License-Identifier: Apache-2.0
// Lifetimes placed as they begin, as a heap without headers would.
#pragma once

#include <span>
#include <vector>

#include "heapfit/packing/lifetimes.hpp"

namespace heapfit {

enum class Fit { first, best };

// `lifetimes` ascend by `from`.
[[nodiscard]] std::vector<Bytes> place_in_time(std::span<const Lifetime> lifetimes, Fit fit);

} // namespace heapfit
