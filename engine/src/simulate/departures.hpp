// SPDX-License-Identifier: Apache-2.0
// Departures to come, the earliest first; of equal times those scheduled first. A radix heap (Ahuja
// et al. 1990, "Faster algorithms for the shortest path problem"), since no departure is scheduled
// before the last one that was taken:
//
//   level 10 ... 1 0      a departure lies at the highest digit of 6 bits in which its time differs
//   +--+     +--+--+      from that of the last one taken, in the list of its own digit there:
//   |16|     |64|64|      all of a lower level, and of a lower digit, leave before it
//   +--+     +--+--+
//
// The first list's departures move down when the earliest of them is taken, so each moves at most
// once a digit. Equal times are always in one list, in order of scheduling.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace heapfit {

struct Departure {
    std::uint64_t time_ns;
    std::uint32_t slot; // what leaves
};

class Departures {
  public:
    [[nodiscard]] bool is_empty() const { return count_ == 0; }
    [[nodiscard]] std::size_t count() const { return count_; }

    // There must be one. It takes a walk over the first list once a departure was taken from there.
    [[nodiscard]] const Departure &first() {
        if (first_.slot == none) {
            find_first();
        }
        return first_;
    }

    // Not before what was taken last; a slot that no departure to come has. The memory taken
    // follows the largest slot.
    void schedule(std::uint64_t time_ns, std::uint32_t slot) {
        if (slot >= waiting_.size()) {
            waiting_.resize(slot + std::size_t{1});
        }
        waiting_[slot].time_ns = time_ns;
        append(slot);
        count_++;
        if (first_.slot != none && time_ns < first_.time_ns) {
            first_ = {time_ns, slot};
        }
    }

    // There must be one.
    void take_first() {
        const Departure taken = first();
        const Place place = place_of(taken.time_ns);
        List &list = lists_[place.level][place.digit];
        last_ns_ = taken.time_ns;
        if (place.level > 0) {
            unmark(place);
            move_down(list.head);
        } else {
            list.head = waiting_[taken.slot].next;
            if (list.head == none) {
                unmark(place);
            }
        }
        count_--;
        first_.slot = none;
    }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr unsigned digit_bits = 6;
    static constexpr std::size_t digits = 1 << digit_bits;
    static constexpr std::size_t levels = (64 + digit_bits - 1) / digit_bits;

    struct Waiting {
        std::uint64_t time_ns;
        std::uint32_t next; // slot behind it in its list
    };

    struct List {
        std::uint32_t head; // slot
        std::uint32_t tail; // likewise
    };

    struct Place {
        unsigned level;
        unsigned digit;
    };

    [[nodiscard]] Place place_of(std::uint64_t time_ns) const {
        const auto highest = static_cast<unsigned>(std::bit_width((time_ns ^ last_ns_) | 1)) - 1;
        const unsigned level = highest / digit_bits;
        return {level, static_cast<unsigned>(time_ns >> (level * digit_bits) & (digits - 1))};
    }

    void append(std::uint32_t slot) {
        const Place place = place_of(waiting_[slot].time_ns);
        List &list = lists_[place.level][place.digit];
        waiting_[slot].next = none;
        if ((filled_[place.level] >> place.digit & 1) != 0) {
            waiting_[list.tail].next = slot;
        } else {
            list.head = slot;
            mark(place);
        }
        list.tail = slot;
    }

    void mark(Place place) {
        filled_[place.level] |= std::uint64_t{1} << place.digit;
        filled_levels_ |= 1u << place.level;
    }

    void unmark(Place place) {
        filled_[place.level] &= ~(std::uint64_t{1} << place.digit);
        if (filled_[place.level] == 0) {
            filled_levels_ &= ~(1u << place.level);
        }
    }

    void find_first() {
        const auto level = static_cast<unsigned>(std::countr_zero(filled_levels_));
        const auto digit = static_cast<unsigned>(std::countr_zero(filled_[level]));
        std::uint32_t slot = lists_[level][digit].head;
        first_ = {waiting_[slot].time_ns, slot};
        if (level == 0) {
            return; // all of one time
        }
        while ((slot = waiting_[slot].next) != none) {
            if (waiting_[slot].time_ns < first_.time_ns) {
                first_ = {waiting_[slot].time_ns, slot};
            }
        }
    }

    // All of the list but the first departure, whose time is the last one taken by now.
    void move_down(std::uint32_t head) {
        for (std::uint32_t slot = head; slot != none;) {
            const std::uint32_t next = waiting_[slot].next;
            if (slot != first_.slot) {
                append(slot);
            }
            slot = next;
        }
    }

    std::vector<Waiting> waiting_; // by slot
    std::array<std::array<List, digits>, levels> lists_;
    std::array<std::uint64_t, levels> filled_{}; // a bit a digit: lists with departures
    std::uint32_t filled_levels_ = 0;            // a bit a level: levels with such lists
    std::uint64_t last_ns_ = 0;                  // of the one taken last
    std::size_t count_ = 0;
    Departure first_{0, none}; // once it was looked for
};

} // namespace heapfit
