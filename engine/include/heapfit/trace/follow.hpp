// SPDX-License-Identifier: Apache-2.0
// The one loop over events: what each event means for an object's life, told to a visitor.
//
// Every pass over a trace (replay, profile, budgets) is a visitor, so they agree on the rules: a
// resize to 0 is a free; an object is allocated once, in order of its number; only a live object is
// resized or freed.
//
// A visitor has three functions, each told the event's index in `events` and the object's value,
// and each returning true to go on:
//   allocated(i, event, value)   resized(i, event, value)   freed(i, event, value)
#pragma once

#include <span>

#include "heapfit/trace/object_table.hpp"

namespace heapfit {

struct Followed {
    std::size_t count; // events before the one that stopped the loop, or all
    bool is_bad;       // the event at `count` breaks the rules: see throw_bad_event
};

// Follows `events` until the visitor says stop or an event breaks the rules. `objects` is an
// ObjectTable or what has its begin, find and end. Neither throws nor allocates, the table's pages
// aside.
template <typename Objects, typename Visitor>
[[nodiscard, gnu::always_inline]] inline Followed follow(std::span<const Event> events,
                                                         Objects &objects, Visitor &visitor) {
    const Event *const end = events.data() + events.size();
    for (const Event *at = events.data(); at != end; at++) {
        // Told anew wherever it is asked for: most visitors do not look at it.
        const auto index = [&] { return static_cast<std::size_t>(at - events.data()); };
        const Event &event = *at;
        const bool is_allocation = event.op < Op::resize;
        const auto place = is_allocation ? objects.begin(event.object) : objects.find(event.object);
        if (!place) {
            return {index(), true};
        }
        bool goes_on = true;
        if (is_allocation) {
            goes_on = visitor.allocated(index(), event, place.value());
        } else if (event.op == Op::free || event.size == 0) {
            goes_on = visitor.freed(index(), event, place.value());
            objects.end(place, event.object);
        } else {
            goes_on = visitor.resized(index(), event, place.value());
        }
        if (!goes_on) {
            return {index(), false};
        }
    }
    return {events.size(), false};
}

// Throws the Error that tells what is wrong with an event that `follow` called bad. `next` is the
// table's.
[[noreturn]] void throw_bad_event(std::uint64_t index, const Event &event, std::uint64_t next);

// As `follow` with a visitor that never stops, throwing on a bad event. `first` is the number of
// events before these, for the message.
template <typename Value, typename Visitor>
void follow_all(std::span<const Event> events, std::uint64_t first, ObjectTable<Value> &objects,
                Visitor &visitor) {
    const Followed followed = follow(events, objects, visitor);
    if (followed.is_bad) {
        throw_bad_event(first + followed.count, events[followed.count], objects.next());
    }
}

} // namespace heapfit
