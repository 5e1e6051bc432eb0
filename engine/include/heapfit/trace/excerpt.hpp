// SPDX-License-Identifier: Apache-2.0
// What of a long trace has to be replayed so that chosen windows of it find a heap as they would
// in the whole: all of their events, and between them each block that a window begins with.
//
//   trace     . . . . [ window ] . . . . . . . . [ window ] . . . .
//   excerpt     a  a  [ all    ]  f  a   r   f   [ all    ]   f
//
// Between windows, blocks that are born and freed there are left out; what else changes keeps its
// order: a block that lives on is allocated, and one that is gone freed, where it was. Of the
// resizes of a block between two windows at most two are left: to the least of these sizes, then to
// the last. So live bytes are never above the trace's at the same event, and equal in windows.
#pragma once

#include <span>
#include <vector>

#include "heapfit/trace/follow.hpp"

namespace heapfit {

// Events from `first` to before `end`.
struct Window {
    std::uint64_t first;
    std::uint64_t end;
};

// Rows of the trace that make the excerpt, in order, and the size that each asks for in it, which
// may differ from the trace's. Their operations are the trace's own.
struct ExcerptRows {
    std::vector<std::uint64_t> events;
    std::vector<Bytes> sizes;
};

class Excerpt {
  public:
    // Windows in order, not empty and apart, else Error.
    explicit Excerpt(std::vector<Window> windows);

    // The next events of the trace. Throws Error if one breaks the rules. Memory follows the live
    // objects and the rows that are kept.
    void feed(std::span<const Event> events);

    // Ends the trace; the rows are handed over.
    [[nodiscard]] ExcerptRows finish();

  private:
    // A live block. Resizes are told by the event of the last, and of the first of the gap that
    // it lies in; `resized` is `born` until there is one.
    struct Object {
        std::uint64_t born;
        std::uint64_t resized;
        std::uint64_t first_resized;
        Bytes size;
        Bytes least; // of a gap's sizes; of its birth, too, if it was born there
    };
    struct Row {
        std::uint64_t event;
        Bytes size;
    };
    struct InWindow;
    struct InGap;

    void feed_gap(std::span<const Event> events);
    void feed_window(std::span<const Event> events);
    void keep(Row row);
    void keep_changes(const Object &object);
    void close_gap();

    std::vector<Window> windows_;
    std::size_t next_ = 0;  // the window that the trace is in, or before
    std::uint64_t gap_ = 0; // first event of the gap that it is in, or was last
    std::uint64_t events_ = 0;
    std::vector<Row> changes_; // of the gap, in no order
    ExcerptRows rows_;
    ObjectTable<Object> objects_;
};

} // namespace heapfit
