// SPDX-License-Identifier: Apache-2.0
// One line of CSV to fields, by the header to columns, and so to one request.
#include "heapfit/trace/csv.hpp"

#include <algorithm>
#include <utility>

namespace heapfit {

namespace {

constexpr std::array<const char *, CsvLines::column_count> column_names = {
    "op", "object", "size", "alignment", "time", "thread", "site", "needs", "served"};

constexpr std::array<std::pair<std::string_view, Op>, 11> op_names = {{
    {"alloc", Op::alloc},
    {"malloc", Op::alloc},
    {"free", Op::free},
    {"zeroed", Op::zeroed},
    {"calloc", Op::zeroed},
    {"aligned", Op::aligned},
    {"memalign", Op::aligned},
    {"aligned_alloc", Op::aligned},
    {"posix_memalign", Op::aligned},
    {"resize", Op::resize},
    {"realloc", Op::resize},
}};

Op to_op(std::string_view word, std::uint64_t number) {
    for (const auto &[name, op] : op_names) {
        if (word == name) {
            return op;
        }
    }
    const std::string letters = lowered(word);
    if (letters != word) {
        return to_op(letters, number);
    }
    refuse_line(number, "op " + quoted(word) + " is none of alloc, zeroed, aligned, resize, free");
}

} // namespace

bool CsvLines::has_column(Column column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

void CsvLines::read_columns(std::uint64_t number) {
    for (const std::string_view field : fields_) {
        const auto *found = std::find(column_names.begin(), column_names.end(), lowered(field));
        const auto column = static_cast<Column>(found - column_names.begin());
        if (column == column_count) {
            unknown_.add(field);
        } else if (has_column(column)) {
            refuse_line(number, "column " + std::string(field) + " twice");
        }
        columns_.push_back(column);
    }
    for (const Column needed : {op, object, size}) {
        if (!has_column(needed)) {
            refuse_line(number, std::string("no column ") + column_names[needed]);
        }
    }
}

template <class Number> Number CsvLines::number_in(Column column, std::uint64_t line) const {
    std::string_view word = cells_[column];
    if (word.ends_with(".0")) {
        word.remove_suffix(2);
    }
    if (word.empty() && column >= alignment) {
        return 0;
    }
    const bool is_hex = word.starts_with("0x") || word.starts_with("0X");
    return to_number<Number>(word.substr(is_hex ? 2 : 0), line, column_names[column],
                             is_hex ? 16 : 10);
}

void CsvLines::take(std::string_view line, std::uint64_t number, TraceBuilder &builder) {
    separator_ = columns_.empty() ? separator_of(line) : separator_;
    split_row(line, separator_, number, fields_);
    if (columns_.empty()) {
        read_columns(number);
        if (has_column(needs)) {
            builder.tell_needs();
        }
        if (has_column(served)) {
            builder.tell_served();
        }
        return;
    }
    const std::size_t count = fields_.size();
    for (std::size_t i = 0; i < columns_.size(); i++) {
        cells_[columns_[i]] = i < count ? fields_[i] : std::string_view{};
    }
    Request request;
    request.op = to_op(cells_[op], number);
    if (count > columns_.size() || (count < columns_.size() && request.op != Op::free)) {
        refuse_line(number, std::to_string(count) + " fields where the header names " +
                                std::to_string(columns_.size()));
    }
    request.id = number_in<std::uint64_t>(object, number);
    request.size = request.op == Op::free ? 0 : number_in<std::uint64_t>(size, number);
    request.alignment = number_in<std::uint64_t>(alignment, number);
    request.time = number_in<std::uint64_t>(time, number);
    request.thread = number_in<std::uint32_t>(thread, number);
    request.site = number_in<std::uint32_t>(site, number);
    request.needs = number_in<std::uint8_t>(needs, number);
    request.served = number_in<std::uint8_t>(served, number);
    builder.add(request, number);
}

void CsvLines::finish() const {
    if (columns_.empty()) {
        throw Error("ends before the line that names the columns");
    }
}

} // namespace heapfit
