// SPDX-License-Identifier: Apache-2.0
// U_max alone, for a trace in memory: a third of what a whole profile takes, since each search
// asks.
#pragma once

#include <span>

#include "heapfit/event.hpp"

namespace heapfit {

// The most bytes live at once, as Profile tells them. Takes 8 bytes an object while it runs. Throws
// Error if an event breaks the rules of a trace or live bytes reach 2^63.
[[nodiscard]] Bytes u_max_of(std::span<const Event> events);

} // namespace heapfit
