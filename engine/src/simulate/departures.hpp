// SPDX-License-Identifier: Apache-2.0
// Departures to come, the earliest first; of equal times those scheduled first. A radix heap (Ahuja
// et al. 1990, "Faster algorithms for the shortest path problem"), since no departure is scheduled
// before the last one that was taken:
//
//   level 7 ... 1 0       a departure lies at the highest byte in which its time differs from the
//   +---+   +---+---+     base, a time already taken, in the list of its own byte there: all of a
//   |256|   |256|256|     lower level, and of a lower byte, leave before it
//   +---+   +---+---+
//
// When the earliest of the first list is taken, its time is the base: the others of that list move
// down, so each moves at most once a byte. Equal times are always in one list, in order of
// scheduling. Few departures are not worth lists of their own: they are sorted, and leave before
// all that lie in lists (as in a ladder queue: Tang et al. 2005):
//
//   front -> 17 -> 23 -> 31          what is scheduled before 31 goes in between
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace heapfit {

struct Departure {
    std::uint64_t time_ns;
    std::uint32_t slot; // what leaves
};

class Departures {
  public:
    // Not before what was taken last. The slot that it leaves: that of an earlier departure which
    // was taken, the last one of them first, or the next.
    [[nodiscard]] std::uint32_t schedule(std::uint64_t time_ns) {
        const std::uint32_t slot = take_slot();
        waiting_[slot].time_ns = time_ns;
        if (front_.head != none && time_ns < waiting_[front_.tail].time_ns) {
            sort_in(slot);
            return slot;
        }
        append(slot);
        if (first_.slot != none && time_ns < first_.time_ns) {
            first_ = {time_ns, slot};
        }
        return slot;
    }

    // Takes the earliest if it leaves at that time or before. It takes a walk over the first list
    // where no departure is in front.
    [[nodiscard]] bool take_due(std::uint64_t time_ns, Departure &taken) {
        if (front_.head == none) {
            return filled_words_ != 0 && take_due_from_lists(time_ns, taken);
        }
        const Waiting &earliest = waiting_[front_.head];
        if (earliest.time_ns > time_ns) {
            return false;
        }
        taken = {earliest.time_ns, front_.head};
        front_.head = earliest.next;
        in_front_--;
        give_slot_back(taken.slot);
        return true;
    }

  private:
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    static constexpr unsigned digit_bits = 8;
    static constexpr std::size_t digits = 1 << digit_bits;
    static constexpr std::size_t levels = 64 / digit_bits;
    static constexpr std::size_t few = 16;           // move to the front at once
    static constexpr std::size_t most_in_front = 32; // each of which may be walked over

    struct Waiting {
        std::uint64_t time_ns;
        std::uint32_t next; // slot behind it in its list, or among the free ones
    };

    struct List {
        std::uint32_t head; // slot
        std::uint32_t tail; // likewise
    };

    [[nodiscard]] std::uint32_t take_slot() {
        const std::uint32_t slot = free_slot_;
        if (slot == none) [[unlikely]] {
            waiting_.push_back({0, none});
            return static_cast<std::uint32_t>(waiting_.size() - 1);
        }
        free_slot_ = waiting_[slot].next;
        return slot;
    }

    void give_slot_back(std::uint32_t slot) {
        waiting_[slot].next = free_slot_;
        free_slot_ = slot;
    }

    // The number of a list: of its level times the digits, and its digit.
    [[nodiscard]] std::size_t place_of(std::uint64_t time_ns) const {
        const auto highest =
            63U ^ static_cast<unsigned>(std::countl_zero((time_ns ^ base_ns_) | 1));
        const unsigned shift = highest & ~(digit_bits - 1);
        return std::size_t{shift} * (digits / digit_bits) + (time_ns >> shift & (digits - 1));
    }

    [[nodiscard]] bool is_marked(std::size_t place) const {
        return (filled_[place / 64] >> place % 64 & 1) != 0;
    }

    void mark(std::size_t place) {
        filled_[place / 64] |= std::uint64_t{1} << place % 64;
        filled_words_ |= 1U << place / 64;
    }

    void unmark(std::size_t place) {
        filled_[place / 64] &= ~(std::uint64_t{1} << place % 64);
        if (filled_[place / 64] == 0) {
            filled_words_ &= ~(1U << place / 64);
        }
    }

    void append(std::uint32_t slot) {
        const std::size_t place = place_of(waiting_[slot].time_ns);
        List &list = lists_[place];
        waiting_[slot].next = none;
        if (is_marked(place)) {
            waiting_[list.tail].next = slot;
        } else {
            list.head = slot;
            mark(place);
        }
        list.tail = slot;
    }

    [[nodiscard]] bool take_due_from_lists(std::uint64_t time_ns, Departure &taken) {
        if (first_.slot == none) {
            find_first();
        }
        if (first_.time_ns > time_ns) {
            return false;
        }
        taken = std::exchange(first_, {0, none});
        const std::size_t place = place_of(taken.time_ns);
        base_ns_ = taken.time_ns;
        List &list = lists_[place];
        if (place >= digits) {
            unmark(place);
            move_down(list.head, taken.slot);
        } else {
            list.head = waiting_[taken.slot].next; // all of one time
            if (list.head == none) {
                unmark(place);
            }
        }
        give_slot_back(taken.slot);
        return true;
    }

    void find_first() {
        const auto word = static_cast<std::size_t>(std::countr_zero(filled_words_));
        const auto bit = static_cast<std::size_t>(std::countr_zero(filled_[word]));
        std::uint32_t slot = lists_[64 * word + bit].head;
        first_ = {waiting_[slot].time_ns, slot};
        while ((slot = waiting_[slot].next) != none) {
            if (waiting_[slot].time_ns < first_.time_ns) {
                first_ = {waiting_[slot].time_ns, slot};
            }
        }
    }

    // The departures of a list but one, whose time is the base by now.
    void move_down(std::uint32_t head, std::uint32_t taken) {
        std::size_t count = 0;
        for (std::uint32_t slot = head; slot != none && count <= few; slot = waiting_[slot].next) {
            count++;
        }
        for (std::uint32_t slot = head; slot != none;) {
            const std::uint32_t next = waiting_[slot].next;
            if (slot != taken) {
                count > few ? append(slot) : sort_in(slot);
            }
            slot = next;
        }
    }

    // Behind those in front that do not leave later.
    void sort_in(std::uint32_t slot) {
        const std::uint64_t time_ns = waiting_[slot].time_ns;
        std::uint32_t before = none;
        std::uint32_t behind = front_.head;
        while (behind != none && waiting_[behind].time_ns <= time_ns) {
            before = behind;
            behind = waiting_[behind].next;
        }
        waiting_[slot].next = behind;
        (before == none ? front_.head : waiting_[before].next) = slot;
        if (behind == none) {
            front_.tail = slot;
        }
        if (++in_front_ > most_in_front) [[unlikely]] {
            give_back_last();
        }
    }

    // The last departure in front, to its list: before those of its time there, which were
    // scheduled after it.
    void give_back_last() {
        const std::uint32_t slot = front_.tail;
        std::uint32_t before = front_.head;
        while (waiting_[before].next != slot) {
            before = waiting_[before].next;
        }
        waiting_[before].next = none;
        front_.tail = before;
        in_front_--;
        const std::size_t place = place_of(waiting_[slot].time_ns);
        List &list = lists_[place];
        if (is_marked(place)) {
            waiting_[slot].next = list.head;
        } else {
            waiting_[slot].next = none;
            list.tail = slot;
            mark(place);
        }
        list.head = slot;
    }

    std::vector<Waiting> waiting_; // by slot
    std::array<List, levels * digits> lists_;
    std::array<std::uint64_t, levels * digits / 64> filled_{}; // a bit a list: it has departures
    std::uint32_t filled_words_ = 0;                           // a bit a word of those: it is not 0
    static_assert(levels * digits / 64 <= 32);
    std::uint64_t base_ns_ = 0;
    std::uint32_t free_slot_ = none; // head of the list of those free
    List front_{none, none}; // ascending, before all lists; the tail counts where there is a head
    std::size_t in_front_ = 0;
    Departure first_{0, none}; // of the lists, once it was looked for; not where some are in front
};

} // namespace heapfit
