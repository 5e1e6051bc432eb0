// SPDX-License-Identifier: Apache-2.0
// What the records of a recording say, unpacked (recorder/WIRE.md), and put into the one order they
// happened in: each chunk holds those of its own threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
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

// Reads fields until the bytes end; from then on all are 0 and `is_short` is true.
class WireFields {
  public:
    explicit WireFields(std::string_view bytes)
        : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    [[nodiscard]] bool is_short() const { return is_short_; }
    [[nodiscard]] bool is_sound() const { return is_sound_; } // no number above 2^64
    [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - next_); }

    std::uint8_t byte();
    std::uint64_t number();     // seven bits a byte, the lowest first
    std::uint64_t difference(); // what lane.c's put_signed wrote, to be added
    std::uint32_t word();

  private:
    const char *next_;
    const char *end_;
    bool is_short_ = false;
    bool is_sound_ = true;
};

// The records of one chunk of version 2 in their order, up to the first that was not committed or
// does not lie in `bytes` as a whole. `place` is the chunk's offset in the file, for the Error that
// damage is.
class WireChunk {
  public:
    WireChunk(std::string_view bytes, std::uint64_t place);

    // Stores the next records. How many: fewer than there is room for only at the end, and 0 from
    // then on: behind an uncommitted tag lie the bytes of a record half written.
    std::size_t read(std::span<WireRecord> records);

    [[nodiscard]] bool is_cut() const { return is_cut_; } // the bytes end within a record
    [[nodiscard]] bool is_full() const;                   // another record would find no room

  private:
    [[nodiscard]] bool is_empty() const;
    [[nodiscard]] bool read_record();
    void read_fields(std::uint8_t tag);
    [[nodiscard]] bool has_callers(std::uint8_t tag) const;
    [[nodiscard]] bool are_callers_sound(std::uint8_t tag) const;
    std::uint32_t site(std::uint8_t tag);

    WireFields fields_;
    std::uint64_t size_;
    std::uint64_t place_;
    WireRecord last_;
    std::array<std::uint32_t, 256> sites_{};
    bool is_cut_ = false;
    bool has_ended_ = false;
};

// Brings the records of all chunks into their order. One that is missing (its thread was killed
// while it wrote) holds back those behind it until `most_held` are, or the recording ends.
class WireOrder {
  public:
    // 1 GiB of them: some 4,000 threads that write by turns, each with a chunk of 16 KiB.
    static constexpr std::size_t most_held = std::size_t{1} << 24;

    // True if it is this record's turn; else it is held back. Refuses an order that was there
    // before.
    bool add(const WireRecord &record) {
        if (record.order > next_) {
            hold(record);
            return false;
        }
        pass(record.order);
        return true;
    }

    // The first of the records held back, if its turn has come; once all chunks are read, in any
    // case. Else nullptr. Valid until the next call.
    const WireRecord *release(bool is_ended = false) {
        return held_.empty() ? nullptr : release_least(is_ended);
    }

    // Records that did not come, so far.
    [[nodiscard]] std::uint64_t missing() const { return missing_; }

  private:
    void pass(std::uint64_t order);
    void hold(const WireRecord &record);
    const WireRecord *release_least(bool is_ended);

    std::vector<WireRecord> held_; // a heap, the least order on top
    WireRecord released_;
    std::uint64_t next_ = 1; // whose turn it is
    std::uint64_t missing_ = 0;
};

} // namespace heapfit
