// SPDX-License-Identifier: Apache-2.0
// One line of a .rep file to a header number or a request.
#include "heapfit/trace/rep.hpp"

namespace heapfit {

namespace {

constexpr std::array head_names = {"heap size", "number of ids", "number of operations", "weight"};

Op to_op(std::string_view word, std::uint64_t number) {
    if (word == "a") {
        return Op::alloc;
    }
    if (word == "r") {
        return Op::resize;
    }
    if (word == "f") {
        return Op::free;
    }
    refuse_line(number, quoted(word) + " is no operation (a, r or f)");
}

void expect_end(const Words &words, std::uint64_t number) {
    if (!words.is_done()) {
        refuse_line(number, "more fields than expected");
    }
}

} // namespace

void RepLines::take(std::string_view line, std::uint64_t number, TraceBuilder &builder) {
    Words words(line);
    if (words.is_done()) {
        return;
    }
    if (head_read_ < head_lines) {
        head_[head_read_] = to_number<std::uint64_t>(words.next(), number, head_names[head_read_]);
        head_read_++;
        expect_end(words, number);
        return;
    }
    if (operations_read_ == head_[operations]) {
        refuse_line(number,
                    "more operations than the " + std::to_string(head_[operations]) + " announced");
    }
    Request request;
    request.op = to_op(words.next(), number);
    request.id = to_number<std::uint64_t>(words.next(), number, "id");
    if (request.id >= head_[ids]) {
        refuse_line(number, "id " + std::to_string(request.id) + " is not below the " +
                                std::to_string(head_[ids]) + " ids announced");
    }
    if (request.op != Op::free) {
        request.size = to_number<std::uint64_t>(words.next(), number, "size");
    }
    expect_end(words, number);
    builder.add(request, number);
    operations_read_++;
}

void RepLines::finish() const {
    if (head_read_ < head_lines) {
        throw Error("ends before the four header lines of a .rep file");
    }
}

std::string RepLines::damage() const {
    return operations_read_ == head_[operations]
               ? ""
               : "operation " + std::to_string(operations_read_ + 1) + " of " +
                     std::to_string(head_[operations]) + ": the file was cut short";
}

} // namespace heapfit
