// SPDX-License-Identifier: Apache-2.0
// A run of events in memory, made from the columns of a stored trace and checked on the way in.
//
// What is in an EventArray keeps these promises: every op is one of Op, no size is above
// largest_request, and only an aligned request carries an alignment. The loops over events rely on
// them.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

// Columns of equal length, as the trace schema names them, and the tags that a plan gives to call
// sites. No alignments, or no tags, means that all are 0.
struct EventColumns {
    std::span<const std::uint8_t> ops;
    std::span<const ObjectId> objects;
    std::span<const Bytes> sizes;
    std::span<const std::uint32_t> alignments;
    std::span<const std::uint16_t> tags;
};

class EventArray {
  public:
    // Events are numbered from `first_event` in error messages: not 0 for a later batch of a long
    // trace.
    explicit EventArray(std::uint64_t first_event = 0) : first_event_(first_event) {}

    // Events that keep the promises.
    EventArray(std::uint64_t first_event, std::vector<Event> events)
        : first_event_(first_event), events_(std::move(events)) {}

    // Takes memory for so many events in all, so that appending them copies nothing.
    void reserve(std::size_t events) { events_.reserve(events); }

    // Throws Error, and appends nothing, if the columns differ in length or an event breaks a
    // promise.
    void append(const EventColumns &columns);

    // The same events, with a tag for each. Only requests that may be tagged carry theirs.
    [[nodiscard]] EventArray tagged(std::span<const std::uint16_t> tags) const;

    // The same events with a mark on each resize, else without tags. 0: the heap does it. 1: moved,
    // by a new block, a copy and a free. Else moved unless the chunk is just so large or loses as
    // many bytes as the low byte says; the high byte is the least size of a new block.
    [[nodiscard]] EventArray moving(std::span<const std::uint16_t> moves) const;

    [[nodiscard]] std::span<const Event> events() const { return events_; }

  private:
    template <typename TagOf>
    [[nodiscard]] EventArray with_tags(std::span<const std::uint16_t> tags,
                                       const TagOf &tag_of) const;

    std::uint64_t first_event_;
    std::vector<Event> events_;
};

} // namespace heapfit
