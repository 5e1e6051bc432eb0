// SPDX-License-Identifier: Apache-2.0
// One line of the text form to one request.
#include "heapfit/trace/text.hpp"

namespace heapfit {

namespace {

Op to_op(std::string_view word, std::uint64_t number) {
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
        refuse_line(number, quoted(word) + " is no event (a, c, m, r or f)");
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
    Request request;
    request.op = to_op(words.next(), number);
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

} // namespace heapfit
