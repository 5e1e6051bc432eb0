// SPDX-License-Identifier: Apache-2.0
// Checks the columns of a trace and packs them into events.
#include "heapfit/event_array.hpp"

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
        (!columns.alignments.empty() && columns.alignments.size() != count)) {
        throw Error("events: the columns op, object, size and alignment differ in length");
    }
}

[[noreturn]] void refuse(std::uint64_t event, const std::string &what) {
    throw Error("event " + std::to_string(event) + ": " + what);
}

void require_valid(const EventColumns &columns, std::size_t row, std::uint64_t event) {
    if (columns.ops[row] >= op_count) {
        refuse(event, "operation " + std::to_string(columns.ops[row]) + " is not one of 0 to 4");
    }
    if (columns.sizes[row] > largest_request) {
        refuse(event, "size " + std::to_string(columns.sizes[row]) + " is above 2^47 bytes");
    }
    if (!columns.alignments.empty() && !is_alignment(columns.alignments[row])) {
        refuse(event,
               "alignment " + std::to_string(columns.alignments[row]) + " is not a power of two");
    }
}

} // namespace

void EventArray::append(const EventColumns &columns) {
    require_equal_lengths(columns);
    const std::size_t count = columns.ops.size();
    const std::size_t before = events_.size();
    for (std::size_t row = 0; row < count; row++) {
        require_valid(columns, row, first_event_ + before + row);
    }
    if (before + count > events_.capacity()) {
        events_.reserve(std::max(before + count, 2 * before));
    }
    for (std::size_t row = 0; row < count; row++) {
        const Op op{columns.ops[row]};
        const bool has_alignment =
            op == Op::aligned && !columns.alignments.empty() && columns.alignments[row] != 0;
        const int log2 = has_alignment ? std::countr_zero(columns.alignments[row]) : 0;
        events_.push_back(
            {columns.sizes[row], columns.objects[row], op, static_cast<std::uint8_t>(log2), 0});
    }
}

} // namespace heapfit
