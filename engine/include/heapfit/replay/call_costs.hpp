// SPDX-License-Identifier: Apache-2.0
// What each call of a replay cost, tallied: how often a call made just so many metadata accesses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/replay/replay.hpp"

namespace heapfit {

// All calls of one operation with equal accesses.
struct CallCost {
    Op op; // alloc stands for zeroed too, and free for a resize to 0
    std::uint64_t loads;
    std::uint64_t stores;
    std::uint64_t calls;
    Bytes payload;         // copied by all of them together
    Bytes largest_payload; // copied by one of them
};

// Replays `events` on `replay` one by one until one is refused; in order of operation, loads and
// stores. Throws Error as Replay::feed does.
[[nodiscard]] std::vector<CallCost> call_costs(Replay &replay, std::span<const Event> events);

} // namespace heapfit
