// SPDX-License-Identifier: Apache-2.0
// One line of the text form to one request.
#include "heapfit/trace/text.hpp"

#include <optional>

namespace heapfit {

namespace {

std::optional<Op> to_op(std::string_view word) {
    switch (word.size() == 1 ? word.front() : ' ') {
    case 'a':
        return Op::alloc;
    case 'c':
        return Op::zeroed;
    case 'm':
        return Op::aligned;
    case 'r':
        return Op::resize;
    case 'f':
        return Op::free;
    default:
        return std::nullopt;
    }
}

std::uint64_t later(std::uint64_t time, std::uint64_t step, std::uint64_t number) {
    if (step > std::numeric_limits<std::uint64_t>::max() - time) {
        refuse_line(number, "the time overflows");
    }
    return time + step;
}

} // namespace

void TextLines::take(std::string_view line, std::uint64_t number, TraceBuilder &builder) {
    Words words(line);
    if (words.is_done()) {
        return;
    }
    const std::optional<Op> named = to_op(words.next());
    if (!named) {
        first_other_ = other_lines_++ == 0 ? number : first_other_;
        return;
    }
    Request request;
    request.op = *named;
    request.id = to_number<std::uint64_t>(words.next(), number, "id");
    if (request.op != Op::free) {
        request.size = to_number<std::uint64_t>(words.next(), number, "size");
    }
    if (request.op == Op::aligned) {
        request.alignment = to_number<std::uint64_t>(words.next(), number, "alignment");
    }
    if (!words.is_done()) {
        time_ = later(time_, to_number<std::uint64_t>(words.next(), number, "dt"), number);
    }
    request.time = time_;
    if (!words.is_done()) {
        request.thread = to_number<std::uint32_t>(words.next(), number, "tid");
    }
    if (!words.is_done() && request.op != Op::free) {
        request.site = to_number<std::uint32_t>(words.next(), number, "site", 16);
    }
    if (!words.is_done()) {
        refuse_line(number, "more fields than the event has");
    }
    builder.add(request, number);
}

std::string TextLines::passed_over() const {
    return other_lines_ == 0
               ? ""
               : "line " + std::to_string(first_other_) + ": is no event (a, c, m, r or f)";
}

std::vector<std::string> TextLines::notes() const {
    return other_lines_ == 0 ? std::vector<std::string>{}
                             : std::vector{counted(other_lines_, "line", "lines") +
                                           " of other text passed over, the first is line " +
                                           std::to_string(first_other_) + "."};
}

} // namespace heapfit
