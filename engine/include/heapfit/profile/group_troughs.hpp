// SPDX-License-Identifier: Apache-2.0
// The least live bytes of groups of blocks (sizes, call sites, threads) in windows of equal length,
// and what each group still holds of the blocks born since the first window began.
//
//   events   0       first                                         end
//            start-up | window 0 | window 1 | ... | last window | what follows
//
// A trough is what a window does not give back: noise of a group's own traffic is above it. Time is
// one step an event, and one a group at each end of a window.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heapfit/trace/follow.hpp"

namespace heapfit {

// Where the windows lie.
struct WindowCut {
    std::uint64_t first;  // event that the first window begins with
    std::uint64_t events; // of a window, above 0
    std::size_t windows;
};

struct GroupTroughsResult {
    std::size_t windows;                    // that ended
    std::vector<std::uint64_t> troughs;     // bytes, a row of windows for each group
    std::vector<std::uint64_t> held;        // bytes of each group, born in the windows or later
    std::vector<std::uint64_t> held_blocks; // likewise
    std::vector<std::uint64_t> held_long;   // of `held`, born in the first half of the windows
};

class GroupTroughs {
  public:
    explicit GroupTroughs(const WindowCut &cut);

    // `group_of` has the group of each event's block, from 0 and dense. A resize is the birth of a
    // block. Throws Error if an event breaks the rules of a trace or has no group.
    void feed(std::span<const Event> events, std::span<const std::uint32_t> group_of);

    [[nodiscard]] GroupTroughsResult result() const;

  private:
    struct Object {
        Bytes size;
        std::uint32_t group;
        bool is_late; // born since the first window began
        bool is_old;  // and before the second half of the windows
    };

    struct Group {
        Bytes live = 0;
        Bytes trough = 0; // of the window at hand
    };

    struct Visitor;

    [[nodiscard]] std::uint64_t room() const;
    void close_window();

    WindowCut cut_;
    std::vector<Group> groups_;
    std::vector<std::vector<std::uint64_t>> troughs_; // of each window that ended, by group
    ObjectTable<Object> objects_;
    std::uint64_t events_ = 0;
};

} // namespace heapfit
