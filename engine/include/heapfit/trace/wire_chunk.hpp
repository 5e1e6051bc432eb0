// SPDX-License-Identifier: Apache-2.0
// What the records of a recording say, unpacked (recorder/WIRE.md), and put into the one order they
// happened in: each chunk holds those of its own threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace heapfit {

// One record of any version; its fields as wire.h has them.
struct WireRecord {
    std::uint64_t order = 0; // from 1
    std::uint64_t address = 0;
    std::uint64_t size = 0; // of a resize's end: its begin has it
    std::uint64_t time = 0; // us since the start
    std::uint32_t site = 0; // of a resize's end: its begin has it
    std::uint32_t thread = 0;
    std::uint8_t op = 0;
    std::uint8_t alignment_log2 = 0;
    std::array<std::uint32_t, 4> callers{}; // of a site that is a chain, where it is new
};

// Hands over the records of one chunk of version 2 in their order, up to the first that was not
// committed or does not lie in `bytes` as a whole. `place` is the chunk's offset in the file, for
// the Error that damage is. True if the chunk was read to its end.
bool read_wire_chunk(std::string_view bytes, std::uint64_t place,
                     const std::function<void(const WireRecord &)> &take);

// As above, of a chunk that is still written to, without the first `known` records. How many there
// are now; `is_full` tells whether another would find no room in `bytes`.
std::uint64_t follow_wire_chunk(std::string_view bytes, std::uint64_t place, std::uint64_t known,
                                bool &is_full, const std::function<void(const WireRecord &)> &take);

// Records of all chunks, handed over by their order. One that is missing (its thread was killed
// while it wrote) holds back those behind it until `most_held` are, or the recording ends.
class WireOrder {
  public:
    static constexpr std::size_t most_held = std::size_t{1} << 20;

    // Calls `take` with each record whose turn it is. Refuses an order that was there before.
    void add(const WireRecord &record, const std::function<void(const WireRecord &)> &take);

    // Calls `take` with those that are held back.
    void finish(const std::function<void(const WireRecord &)> &take);

    // Records that did not come, so far.
    [[nodiscard]] std::uint64_t missing() const { return missing_; }

  private:
    void pass(const WireRecord &record, const std::function<void(const WireRecord &)> &take);
    void pass_least(const std::function<void(const WireRecord &)> &take);

    std::vector<WireRecord> held_; // a heap, the least order on top
    std::uint64_t next_ = 1;       // whose turn it is
    std::uint64_t missing_ = 0;
};

} // namespace heapfit
