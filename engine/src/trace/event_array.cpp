// SPDX-License-Identifier: Apache-2.0
// Checks the columns of a trace and packs them into events.
#include "heapfit/trace/event_array.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// An alignment of an aligned request: 0 for the heap's own, else a power of two.
constexpr bool is_alignment(std::uint32_t alignment) {
    return (alignment & (alignment - 1)) == 0;
}

void require_equal_lengths(const EventColumns &columns) {
    const std::size_t count = columns.ops.size();
    if (columns.objects.size() != count || columns.sizes.size() != count ||
        (!columns.alignments.empty() && columns.alignments.size() != count) ||
        (!columns.tags.empty() && columns.tags.size() != count)) {
        throw Error("events: the columns op, object, size, alignment and tag differ in length");
    }
}

bool is_valid(const EventColumns &columns, std::size_t row) {
    return columns.ops[row] < op_count && columns.sizes[row] <= largest_request &&
           (columns.alignments.empty() || is_alignment(columns.alignments[row]));
}

// Tells what is wrong with an event that is not valid.
[[noreturn]] void refuse(const EventColumns &columns, std::size_t row, std::uint64_t event) {
    const std::string where = "event " + std::to_string(event) + ": ";
    if (columns.ops[row] >= op_count) {
        throw Error(where + "operation " + std::to_string(columns.ops[row]) +
                    " is not one of 0 to 4");
    }
    if (columns.sizes[row] > largest_request) {
        throw Error(where + "size " + std::to_string(columns.sizes[row]) + " is above 2^47 bytes");
    }
    throw Error(where + "alignment " + std::to_string(columns.alignments[row]) +
                " is not a power of two");
}

// Column by column and without a way out of the loops, which the compiler then makes wide.
bool are_valid(const EventColumns &columns) {
    std::uint8_t highest_op = 0;
    for (const std::uint8_t op : columns.ops) {
        highest_op = std::max(highest_op, op);
    }
    Bytes size_bits = 0;
    for (const Bytes size : columns.sizes) {
        size_bits |= size;
    }
    std::uint32_t extra_bits = 0;
    for (const std::uint32_t alignment : columns.alignments) {
        extra_bits |= alignment & (alignment - 1);
    }
    return highest_op < op_count && size_bits < largest_request && extra_bits == 0;
}

std::uint8_t alignment_log2(Op op, std::uint32_t alignment) {
    return op == Op::aligned && alignment != 0
               ? static_cast<std::uint8_t>(std::countr_zero(alignment))
               : std::uint8_t{0};
}

// The tag, where the event may carry one.
std::uint16_t tag_of(const Event &event, std::uint16_t tag) {
    return event.op <= Op::zeroed ? tag : std::uint16_t{0};
}

std::uint16_t move_of(const Event &event, std::uint16_t move) {
    return event.op == Op::resize ? move : std::uint16_t{0};
}

} // namespace

void EventArray::append(const EventColumns &columns) {
    require_equal_lengths(columns);
    const std::size_t count = columns.ops.size();
    const std::size_t before = events_.size();
    if (!are_valid(columns)) {
        for (std::size_t row = 0; row < count; row++) {
            if (!is_valid(columns, row)) {
                refuse(columns, row, first_event_ + before + row);
            }
        }
    }
    if (before + count > events_.capacity()) {
        events_.reserve(std::max(before + count, 2 * before));
    }
    events_.resize(before + count);
    const std::span<Event> added = std::span(events_).subspan(before);
    for (std::size_t row = 0; row < count; row++) {
        added[row] = {columns.sizes[row], columns.objects[row], Op{columns.ops[row]}, 0, 0};
    }
    for (std::size_t row = 0; row < columns.alignments.size(); row++) {
        added[row].alignment_log2 = alignment_log2(added[row].op, columns.alignments[row]);
    }
    for (std::size_t row = 0; row < columns.tags.size(); row++) {
        added[row].tag = tag_of(added[row], columns.tags[row]);
    }
}

template <typename TagOf>
EventArray EventArray::with_tags(std::span<const std::uint16_t> tags, const TagOf &tag_of) const {
    if (tags.size() != events_.size()) {
        throw Error("events: there must be as many tags as events");
    }
    EventArray array = *this;
    for (std::size_t row = 0; row < tags.size(); row++) {
        array.events_[row].tag = tag_of(events_[row], tags[row]);
    }
    return array;
}

EventArray EventArray::tagged(std::span<const std::uint16_t> tags) const {
    return with_tags(tags, tag_of);
}

EventArray EventArray::moving(std::span<const std::uint16_t> moves) const {
    return with_tags(moves, move_of);
}

} // namespace heapfit
