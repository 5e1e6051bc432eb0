// SPDX-License-Identifier: Apache-2.0
// U(t) and P_i(t) in full: what each event changes, in a table of columns.
#pragma once

#include <span>
#include <vector>

#include "heapfit/profile/size_index.hpp"
#include "heapfit/trace/follow.hpp"

namespace heapfit {

// A row for each event; two, first of the old size, for a resize to another size.
struct LiveChangeColumns {
    std::vector<std::uint64_t> events;      // number of the event
    std::vector<std::uint64_t> live_bytes;  // U(t) after it
    std::vector<std::uint64_t> sizes;       // S_i, whose blocks became more or fewer; bytes
    std::vector<std::uint64_t> live_blocks; // P_i(t) of this size after it
};

class LiveChanges {
  public:
    // The rows of the next events. Throws Error if one breaks the rules of a trace. Memory follows
    // the live objects and the different sizes.
    [[nodiscard]] LiveChangeColumns feed(std::span<const Event> events);

    // Whether there were over a million different sizes: see size_index.hpp.
    [[nodiscard]] bool is_coarse() const { return sizes_.is_coarse(); }

  private:
    struct Object {
        Bytes size;
        std::uint32_t number; // of the size in sizes_
    };

    struct Visitor;

    ObjectTable<Object> objects_;
    SizeIndex sizes_;
    std::vector<std::uint64_t> live_; // blocks, by number of the size
    Bytes live_bytes_ = 0;
    std::uint64_t events_ = 0;
};

} // namespace heapfit
