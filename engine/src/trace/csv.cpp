// SPDX-License-Identifier: Apache-2.0
// One line of CSV to fields, by the header to columns, and so to one request.
#include "heapfit/trace/csv.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace heapfit {

namespace {

constexpr std::array<const char *, CsvLines::column_count> column_names = {
    "op", "object", "size", "alignment", "time", "thread", "site", "needs", "served", "old"};

struct PrintedName {
    std::string_view name;
    CsvLines::Column column;
    std::uint64_t unit = 1; // of a time, in us
};

// What programs call the columns of a table of their calls.
constexpr auto printed_names = std::to_array<PrintedName>({
    {"op", CsvLines::op},           {"function", CsvLines::op},
    {"func", CsvLines::op},         {"call", CsvLines::op},
    {"event", CsvLines::op},        {"operation", CsvLines::op},
    {"object", CsvLines::object},   {"pointer", CsvLines::object},
    {"ptr", CsvLines::object},      {"address", CsvLines::object},
    {"addr", CsvLines::object},     {"size", CsvLines::size},
    {"bytes", CsvLines::size},      {"length", CsvLines::size},
    {"len", CsvLines::size},        {"alignment", CsvLines::alignment},
    {"align", CsvLines::alignment}, {"time", CsvLines::time},
    {"us", CsvLines::time},         {"time_us", CsvLines::time},
    {"ms", CsvLines::time, 1000},   {"time_ms", CsvLines::time, 1000},
    {"old", CsvLines::old},         {"old_pointer", CsvLines::old},
    {"old_ptr", CsvLines::old},     {"old_address", CsvLines::old},
});

// Words in the names of functions, the first that a name has: pvPortMalloc, heap_caps_free.
constexpr std::array<std::pair<std::string_view, Op>, 9> op_words = {{
    {"realloc", Op::resize},
    {"dealloc", Op::free},
    {"free", Op::free},
    {"delete", Op::free},
    {"release", Op::free},
    {"calloc", Op::zeroed},
    {"zalloc", Op::zeroed},
    {"alloc", Op::alloc},
    {"new", Op::alloc},
}};

bool has_all(const std::vector<std::string_view> &fields,
             std::initializer_list<std::string_view> names) {
    return std::ranges::all_of(names, [&fields](std::string_view name) {
        return std::ranges::any_of(fields, [name](auto one) { return lowered(one) == name; });
    });
}

// What a program calls a column; null if it is none of those.
const PrintedName *printed_name(std::string_view field) {
    const auto *found = std::ranges::find(printed_names, lowered(field), &PrintedName::name);
    return found == printed_names.end() ? nullptr : found;
}

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
    for (const auto &[part, op] : op_words) {
        if (word.find(part) != word.npos) {
            return op;
        }
    }
    refuse_line(number, "op " + quoted(word) + " is none of alloc, zeroed, aligned, resize, free");
}

} // namespace

bool CsvLines::has_column(Column column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

void CsvLines::read_columns(std::uint64_t number) {
    is_printed_ = !has_all(fields_, {"op", "object"});
    const bool has_time = has_all(fields_, {"time"});
    for (const std::string_view field : fields_) {
        const auto *found = std::find(column_names.begin(), column_names.end(), lowered(field));
        auto column = static_cast<Column>(found - column_names.begin());
        column = column == old ? column_count : column;
        const PrintedName *printed = printed_name(field);
        const bool is_unit = printed != nullptr && printed->column == time && !has_time;
        if (printed != nullptr && (is_printed_ || is_unit)) {
            column = has_column(printed->column) ? column_count : printed->column;
            time_unit_ = column == time ? printed->unit : time_unit_;
        }
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
    const bool has_prefix = word.starts_with("0x") || word.starts_with("0X");
    const bool is_address = is_printed_ && (column == object || column == old);
    if (is_address && (word.empty() || word == "(nil)" || lowered(word) == "null")) {
        return 0;
    }
    return to_number<Number>(word.substr(has_prefix ? 2 : 0), line, column_names[column],
                             has_prefix || is_address ? 16 : 10);
}

// Microseconds of a time that may have decimals.
std::uint64_t CsvLines::time_of(std::uint64_t line) {
    std::string_view &word = cells_[time];
    std::string_view decimals = word.substr(std::min(word.find('.'), word.size()));
    const std::uint64_t fraction = take_fraction(decimals, time_unit_);
    if (decimals.empty()) {
        word = word.substr(0, word.find('.'));
    }
    const auto whole = number_in<std::uint64_t>(time, line);
    return whole > (UINT64_MAX - fraction) / time_unit_ ? UINT64_MAX
                                                        : whole * time_unit_ + fraction;
}

void CsvLines::take(std::string_view line, std::uint64_t number, TraceBuilder &builder) {
    separator_ = columns_.empty() ? separator_of(line) : separator_;
    split_row(line, separator_, number, fields_);
    if (columns_.empty()) {
        read_columns(number);
        if (is_printed_) {
            builder.drop_unknown();
        }
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
    request.time = time_of(number);
    request.thread = number_in<std::uint32_t>(thread, number);
    request.site = number_in<std::uint32_t>(site, number);
    request.needs = number_in<std::uint8_t>(needs, number);
    request.served = number_in<std::uint8_t>(served, number);
    if (is_printed_) {
        add_call(request, number, builder);
    } else {
        builder.add(request, number);
    }
}

// Adds what a program printed: a request that returned 0 was refused, one that resizes an unknown
// block is an allocation, and a free of 0 is none.
void CsvLines::add_call(Request request, std::uint64_t number, TraceBuilder &builder) {
    if (request.id == 0) {
        refused_ += request.op != Op::free;
        return;
    }
    if (request.op == Op::resize) {
        const auto before = has_column(old) ? number_in<std::uint64_t>(old, number) : request.id;
        if (before != request.id && builder.is_live(before)) {
            (void)builder.rename(before, request.id, number);
        }
        request.op = builder.is_live(request.id) ? Op::resize : Op::alloc;
    }
    builder.add(request, number);
}

std::vector<std::string> CsvLines::notes() const {
    std::vector<std::string> told = unknown_.notes();
    if (refused_ != 0) {
        told.push_back(counted(refused_, "request", "requests") +
                       " that the heap refused left out.");
    }
    return told;
}

bool names_calls(std::string_view header) {
    std::vector<std::string_view> fields;
    try {
        split_row(header, separator_of(header), 1, fields);
    } catch (const Error &) {
        return false;
    }
    const auto has = [&fields](CsvLines::Column column) {
        return std::ranges::any_of(fields, [column](std::string_view field) {
            const PrintedName *name = printed_name(field);
            return name != nullptr && name->column == column;
        });
    };
    return has_all(fields, {"op", "object"}) ||
           (has(CsvLines::op) && has(CsvLines::object) && has(CsvLines::size));
}

void CsvLines::finish() const {
    if (columns_.empty()) {
        throw Error("ends before the line that names the columns");
    }
}

} // namespace heapfit
