// SPDX-License-Identifier: Apache-2.0
// A program made to need much memory: rounds of asking and releasing, each described by a few
// numbers, so that they can be changed at random. What a round releases depends on where the blocks
// lie.
#pragma once

#include <cstdint>
#include <vector>

#include "adversary/limited_program.hpp"
#include "heapfit/random.hpp"

namespace heapfit {

// Sizes that are taken for one another, numbers `first` to `last` of the limits, and the bytes from
// one block to the next of the smallest of them on this plan's heap.
struct SizeGroup {
    std::uint32_t first;
    std::uint32_t last;
    std::uint64_t pitch;
};

// At most 64 groups; each size alone where there are no more. Sizes that may not be asked for are
// in none.
[[nodiscard]] std::vector<SizeGroup> size_groups(const Plan &plan, const Limits &limits);

enum class Keep : std::uint8_t { none, fewest, one_in, all };
enum class ReleaseOrder : std::uint8_t { ascending, descending, shuffled };

struct Round {
    std::uint8_t many;  // the group asked for `run` times, then
    std::uint8_t one;   // this one once, and so on
    std::uint8_t run;   // 1 to 8
    std::uint8_t share; // sixteenths of the unused bytes, asked for in all
    Keep keep;
    std::uint8_t window; // fewest: no hole shall serve this group
    std::uint8_t slack;  // and holes this many sixteenths larger serve it neither
    std::uint8_t stride; // one_in: of so many blocks one is kept
    ReleaseOrder order;
    bool empties_pools; // what lies in pools is released whatever `keep` says
};

struct BadProgram {
    std::vector<Round> rounds;
    std::uint64_t seed = 1; // of shuffles
};

// The programs to begin with.
[[nodiscard]] std::vector<BadProgram> known_bad_programs(std::size_t groups);

// Two to eight rounds drawn at random.
[[nodiscard]] BadProgram drawn_program(std::size_t groups, Philox &random);

// A round or two changed, added, left out or moved.
[[nodiscard]] BadProgram changed(BadProgram program, std::size_t groups, Philox &random);

struct Stage {
    std::span<const SizeGroup> groups;
    std::uint64_t pools_end; // offset
    std::uint64_t events;    // at most
};

// Plays until a request is refused, the events are spent, or there is nothing left to ask for.
void play(const BadProgram &bad, const Stage &stage, LimitedProgram &program);

// Asks for all that the limits allow, the largest first.
void ask_for_the_rest(const Stage &stage, LimitedProgram &program);

} // namespace heapfit
