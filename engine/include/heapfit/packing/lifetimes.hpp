// SPDX-License-Identifier: Apache-2.0
// A trace as lifetimes: what an offline placement is made from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

// Bytes that are live from event `from` until event `until`, which is not included.
struct Lifetime {
    std::uint64_t from;
    std::uint64_t until;
    Bytes size;
};

// Every object of the trace as lifetimes by ascending `from`: one for each size it had, since a
// resize may move it. Sizes are as asked for; what has size 0 is left out. What is never freed
// lives until the number of events. Throws Error on a bad trace.
[[nodiscard]] std::vector<Lifetime> lifetimes_of(std::span<const Event> events);

// Most bytes live at once; no placement is lower.
[[nodiscard]] Bytes peak_of(std::span<const Lifetime> lifetimes);

// The height of a placement: where its highest lifetime ends. Throws Error unless every two
// lifetimes that overlap in time lie apart. It shares no code with what makes placements.
[[nodiscard]] Bytes check_placement(std::span<const Lifetime> lifetimes,
                                    std::span<const Bytes> offsets);

} // namespace heapfit
