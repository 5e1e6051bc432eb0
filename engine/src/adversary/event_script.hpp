// SPDX-License-Identifier: Apache-2.0
// A sequence of requests that is changed event by event and stays legal: what the limits forbid is
// left out when it is played.
#pragma once

#include <vector>

#include "adversary/bad_program.hpp"

namespace heapfit {

struct ScriptEvent {
    ObjectId object; // of the script
    std::uint32_t size_number;
    bool is_release;
};

using EventScript = std::vector<ScriptEvent>;

[[nodiscard]] EventScript script_of(std::span<const Event> events, const Limits &limits);

// A few events changed: an object left out, of another size, released elsewhere or not at all, or a
// new one.
[[nodiscard]] EventScript changed(const EventScript &script, const Limits &limits, Philox &random);

// Plays the script, then asks for all that the limits allow.
void play(const EventScript &script, const Stage &stage, LimitedProgram &program);

} // namespace heapfit
