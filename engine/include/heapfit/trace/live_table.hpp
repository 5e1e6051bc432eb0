// SPDX-License-Identifier: Apache-2.0
// The objects alive while a trace is imported, found by the id their source gave them. Open
// addressing with linear probing; an erased slot is closed by moving its followers back, so the
// table holds live ids only and its memory is bounded by the most objects alive at once (43 to 64
// bytes each).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heapfit/compiler.hpp"
#include "heapfit/event.hpp"

namespace heapfit {

class LiveTable {
  public:
    struct Slot {
        std::uint64_t id;
        Bytes size; // as last asked for
        ObjectId object;
        bool is_used;
    };

    LiveTable();

    // The slot of a live id, or nullptr. Valid until the next insert or erase.
    [[nodiscard]] Slot *find(std::uint64_t id);

    // Has what is known of an id fetched into the cache, for a `find` or `insert` to come.
    void expect(std::uint64_t id) const { prefetch_to_write(&slots_[home(id)]); }

    // False, and nothing changed, when the id is live already.
    [[nodiscard]] bool insert(std::uint64_t id, Bytes size, ObjectId object);

    // Takes a slot that `find` returned out of the table.
    void erase(Slot *slot);

    // A copy of all slots in use, in no order.
    [[nodiscard]] std::vector<Slot> used() const;

    [[nodiscard]] std::size_t size() const { return size_; }

  private:
    // Both halves of the 128-bit product count, so that ids in steps of a power of two spread as
    // well.
    [[nodiscard]] std::size_t home(std::uint64_t id) const {
        const Wide product = Wide{id ^ key_} * 0x9E3779B97F4A7C15U;
        return static_cast<std::uint64_t>(product ^ (product >> 64)) & mask_;
    }
    [[nodiscard]] std::size_t next(std::size_t index) const { return (index + 1) & mask_; }
    void grow();

    std::vector<Slot> slots_;
    std::size_t mask_;
    std::size_t size_ = 0;
    std::uint64_t key_; // drawn at start, so that no file can be made to collide
};

} // namespace heapfit
