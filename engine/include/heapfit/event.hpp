// SPDX-License-Identifier: Apache-2.0
// One event of a trace, as the engine reads it: 16 bytes, so that a million events are 16 MB.
//
//   0        8          12   13               14       16
//   +--------+----------+----+----------------+--------+
//   | size   | object   | op | log2 alignment | tag    |
//   +--------+----------+----+----------------+--------+
#pragma once

#include <cstdint>
#include <type_traits>

namespace heapfit {

// What a program asked of its heap. The numbers are those of the trace schema
// (docs/evidence/schemas.md).
enum class Op : std::uint8_t { alloc = 0, zeroed = 1, aligned = 2, resize = 3, free = 4 };

inline constexpr std::uint8_t op_count = 5;

// Bytes asked for or held.
using Bytes = std::uint64_t;

// Ordinal of an object's allocation in its trace: 0, 1, 2, ... in order of allocation, never
// reused.
using ObjectId = std::uint32_t;

// Events number from 0 in file order; times are microseconds since the first event.
using Tick = std::uint64_t;

// The largest request an importer lets through: no address space holds more. Live bytes stay below
// 2^63.
inline constexpr Bytes largest_request = Bytes{1} << 47;

struct Event {
    Bytes size; // alloc, zeroed, aligned: asked for; resize: the new size; free: 0
    ObjectId object;
    Op op;
    std::uint8_t alignment_log2; // of an aligned request; 0 = the heap's own alignment
    std::uint16_t tag; // of the call site, of an alloc or a zeroed; 0 = none; of a resize 1 = moved
};

static_assert(sizeof(Event) == 16 && std::is_trivially_copyable_v<Event>);

} // namespace heapfit
