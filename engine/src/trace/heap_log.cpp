// SPDX-License-Identifier: Apache-2.0
// One line of a heap's log to one call: by patterns, of which a dialect is a list.
#include "heapfit/trace/heap_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// What must stand in a line, anywhere. %A address, %O old address, %I any address: hexadecimal; %S
// size, %N count of them, %L alignment: decimal; %H size, hexadecimal; %F the rest of a function's
// name; a blank: one or more.
struct Pattern {
    std::string_view text;
    Op op;
    Meaning meaning = Meaning::call;
};

// The first pattern that a line has is what it says.
constexpr auto heaplog = std::to_array<Pattern>({
    {"hl{m,%S,0,%A", Op::alloc},
    {"hl{m,%S,1,%A", Op::alloc},
    {"hl{m,%S,%A", Op::alloc},
    {"hl{c,%S,0,%A", Op::zeroed},
    {"hl{c,%S,1,%A", Op::zeroed},
    {"hl{c,%S,%A", Op::zeroed},
    {"hl{z,%S,0,%A", Op::zeroed},
    {"hl{z,%S,1,%A", Op::zeroed},
    {"hl{z,%S,%A", Op::zeroed},
    {"hl{r,%S,0,%O,%A}", Op::resize},
    {"hl{r,%S,1,%O,%A}", Op::resize},
    {"hl{r,%S,%O,%A", Op::resize},
    {"hl{f,0,%A", Op::free},
    {"hl{f,1,%A", Op::free},
    {"hl{f,%A", Op::free},
});
constexpr auto wolfssl = std::to_array<Pattern>({
    {"Alloc: %A -> %S at ", Op::alloc},
    {"Free: %A -> %I at ", Op::free},
});
constexpr auto nuttx = std::to_array<Pattern>({
    {"mm_malloc: Allocated %A, size %S", Op::alloc},
    {"mm_free: Freeing %A", Op::free},
});
constexpr auto nuttx_trace = std::to_array<Pattern>({
    {"|malloc: heap: %I size:%S, address: %A", Op::alloc},
    {"|free: heap: %I size:%S, address: %A", Op::free},
});
constexpr auto zephyr = std::to_array<Pattern>({
    {"Memory allocated at %A, size %S", Op::alloc},
    {"Memory freed at %A", Op::free},
});
constexpr auto zephyr_list = std::to_array<Pattern>({
    {"[heaptrace] ptr=%A size=%S heap=", Op::alloc},
});
constexpr auto esp_list = std::to_array<Pattern>({
    {"%S bytes (@ %A", Op::alloc},
    {"freed by ", Op::free, Meaning::last_was_freed},
    {"ccount %I freed", Op::free, Meaning::last_was_freed}, // RISC-V's has no callers
    {"====== Heap Trace: ", Op::free, Meaning::list_begins},
    {" allocations trace (", Op::free, Meaning::list_begins},
});
constexpr auto freertos = std::to_array<Pattern>({
    {"traceMALLOC(%A, %S", Op::alloc},
    {"traceFREE(%A", Op::free},
});
constexpr auto system_view = std::to_array<Pattern>({
    {"HEAP: Allocated %S bytes @ %A", Op::alloc},
    {"HEAP: Freed bytes @ %A", Op::free},
});
constexpr auto mbed = std::to_array<Pattern>({
    {"#m:%A;%I-%S", Op::alloc},
    {"#c:%A;%I-%N;%S", Op::zeroed},
    {"#r:%A;%I-%O;%S", Op::resize},
    {"#f:%I;%I-%A", Op::free},
});
constexpr auto mtrace = std::to_array<Pattern>({
    {"] + %A %H", Op::alloc},
    {"] - %A", Op::free},
    {"] < %O", Op::resize, Meaning::old_block},
    {"] > %A %H", Op::resize},
});
constexpr auto calls = std::to_array<Pattern>({
    {"malloc(%S) = %A", Op::alloc},
    {"malloc(%S) @ %I returned %A", Op::alloc},
    {"pvPortMalloc(%S) = %A", Op::alloc},
    {"_Znw%F(size %S, al %L) = %A", Op::aligned},
    {"_Zna%F(size %S, al %L) = %A", Op::aligned},
    {"_Znw%F(%S) = %A", Op::alloc},
    {"_Zna%F(%S) = %A", Op::alloc},
    {"calloc(%N,%S) = %A", Op::zeroed},
    {"calloc(%N, %S) = %A", Op::zeroed},
    {"calloc(%N, %S) @ %I returned %A", Op::zeroed},
    {"realloc(%O,%S) = %A", Op::resize},
    {"realloc(%O, %S) = %A", Op::resize},
    {"realloc(%O, %S) @ %I returned %A", Op::resize},
    {"memalign(al %L, size %S) = %A", Op::aligned},
    {"memalign(%L, %S) = %A", Op::aligned},
    {"aligned_alloc(%L, %S) = %A", Op::aligned},
    {"free(%A)", Op::free},
    {"vPortFree(%A)", Op::free},
    {"_Zdl%F(%A)", Op::free},
    {"_Zda%F(%A)", Op::free},
});

struct Dialect {
    std::string_view source;
    std::span<const Pattern> patterns;
    std::string_view note; // what its sizes are, where they are not requests
};

constexpr std::string_view node_table = "NuttX's memdump";
constexpr std::string_view rounded_up =
    "Sizes are those of chunks, which the heap had rounded up: requests are less.";
constexpr std::string_view what_is_live =
    "A list tells what was live then, not what had come and gone before.";

constexpr auto dialects = std::to_array<Dialect>({
    {"heaplog", heaplog, ""},
    {"wolfSSL's memory log", wolfssl, ""},
    {"NuttX's memory log", nuttx, rounded_up},
    {"NuttX's trace", nuttx_trace, rounded_up},
    {"Zephyr's heap listener", zephyr, rounded_up},
    {"Zephyr's heaptrace dump", zephyr_list, what_is_live},
    {"ESP-IDF's heap trace", esp_list, what_is_live},
    {"FreeRTOS's trace macros", freertos,
     "Sizes are those of blocks, header and rounding included: requests are less."},
    {"SystemView's heap events", system_view, ""},
    {"Mbed's memory trace", mbed, ""},
    {"mtrace", mtrace, ""},
    {"a log of calls", calls, ""},
});

bool take(std::string_view &line, std::string_view text) {
    const bool is_there = line.starts_with(text);
    line.remove_prefix(is_there ? text.size() : 0);
    return is_there;
}

// A number at the line's start, which loses it. 0x may stand twice before hexadecimal ones, or not
// at all, and no address may be a word.
std::optional<std::uint64_t> take_number(std::string_view &line, int base) {
    if (base == 16 && (take(line, "(nil)") || take(line, "NULL"))) {
        return 0;
    }
    while (base == 16 && take(line, "0x")) {
    }
    std::uint64_t value = 0;
    const std::from_chars_result result =
        std::from_chars(line.data(), line.data() + line.size(), value, base);
    if (result.ec != std::errc{}) {
        return std::nullopt;
    }
    line.remove_prefix(static_cast<std::size_t>(result.ptr - line.data()));
    return value;
}

// Puts a number where its letter says.
void put(HeapCall &call, char letter, std::uint64_t value) {
    switch (letter) {
    case 'A':
        call.address = value;
        return;
    case 'O':
        call.old = value;
        return;
    case 'L':
        call.alignment = value;
        return;
    case 'N':
        call.count = value;
        return;
    case 'I':
        return;
    default:
        call.size = value;
    }
}

// The call that a line begins with, if it begins as the pattern says; the line loses it then.
std::optional<HeapCall> matched(std::string_view &line, const Pattern &pattern) {
    HeapCall call;
    call.op = pattern.op;
    call.meaning = pattern.meaning;
    std::string_view text = pattern.text;
    while (!text.empty()) {
        if (text.front() != '%') {
            if (!take(line, text.substr(0, 1))) {
                return std::nullopt;
            }
            while (text.front() == ' ' && take(line, " ")) {
            }
            text.remove_prefix(1);
            continue;
        }
        if (text[1] == 'F') {
            line.remove_prefix(std::min(line.find('('), line.size()));
            text.remove_prefix(2);
            continue;
        }
        const bool is_decimal = text[1] == 'S' || text[1] == 'N' || text[1] == 'L';
        const std::optional<std::uint64_t> value = take_number(line, is_decimal ? 10 : 16);
        if (!value) {
            return std::nullopt;
        }
        put(call, text[1], *value);
        text.remove_prefix(2);
    }
    // A product that no heap can serve: what calloc is to refuse.
    if (__builtin_mul_overflow(call.size, call.count, &call.size)) {
        call.address = 0;
    }
    return call;
}

// Where in a line a pattern may stand, or npos. One that begins with a number is found by the words
// behind it.
std::size_t start_of(std::string_view line, std::string_view pattern) {
    if (pattern.front() != '%') {
        return line.find(pattern.substr(0, pattern.find('%')));
    }
    std::size_t at = line.find(pattern.substr(2, pattern.find('%', 2) - 2));
    while (at != line.npos && at > 0 && line[at - 1] >= '0' && line[at - 1] <= '9') {
        at--;
    }
    return at;
}

// The first call in a line, which loses all up to its end.
std::optional<HeapCall> call_in(std::string_view &line, std::span<const Pattern> patterns) {
    constexpr std::size_t shortest_call = 4;
    std::optional<HeapCall> first;
    if (line.size() < shortest_call) {
        return first;
    }
    std::size_t first_at = line.npos;
    std::string_view rest = line;
    for (const Pattern &pattern : patterns) {
        const std::size_t at = start_of(line, pattern.text);
        if (at >= first_at) { // or none
            continue;
        }
        std::string_view behind = line.substr(at);
        if (const std::optional<HeapCall> call = matched(behind, pattern)) {
            first = call;
            first_at = at;
            rest = behind;
        }
    }
    line = rest;
    return first;
}

std::optional<std::size_t> dialect_of(std::string_view line) {
    for (std::size_t i = 0; i < dialects.size(); i++) {
        std::string_view rest = line;
        const std::optional<HeapCall> call = call_in(rest, dialects[i].patterns);
        if (call && call->op != Op::free) {
            return i;
        }
    }
    return std::nullopt;
}

} // namespace

bool has_heap_log(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        const std::string_view line = bytes.substr(0, end);
        if (dialect_of(line) || NodeTable::begun_by(line)) {
            return true;
        }
        bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    }
    return false;
}

void HeapLogTrace::feed(std::string_view chunk) {
    splitter_.feed(chunk, [this](auto line, auto number) { take(line, number); });
}

void HeapLogTrace::finish() {
    splitter_.finish([this](auto line, auto number) { take(line, number); });
    end_table(lines_);
    heap_.finish();
}

void HeapLogTrace::take(std::string_view line, std::uint64_t number) {
    lines_ = number;
    if (!dialect_) {
        dialect_ = dialect_of(line);
        header_.source = dialect_ ? dialects[*dialect_].source : header_.source;
    }
    if (!dialect_) {
        other_lines_ += !take_listed(line, number);
        return;
    }
    const std::span<const Pattern> patterns = dialects[*dialect_].patterns;
    std::optional<HeapCall> call = call_in(line, patterns);
    other_lines_ += !call;
    for (; call; call = call_in(line, patterns)) {
        apply(*call, number);
    }
}

// NuttX lists what is free in a table of its own, too.
bool HeapLogTrace::take_listed(std::string_view line, std::uint64_t number) {
    if (line.find("Dump ") != line.npos) {
        lists_free_ = line.find(" free ") != line.npos;
    }
    std::optional<NodeTable> begun = NodeTable::begun_by(line);
    if (begun) {
        end_table(number);
        table_ = lists_free_ ? std::nullopt : std::move(begun);
        return true;
    }
    return table_ && table_->take(line);
}

void HeapLogTrace::end_table(std::uint64_t number) {
    if (!table_) {
        return;
    }
    heap_.begin_list(number);
    has_order_ = table_->has_order();
    for (const Node &node : table_->nodes()) {
        Request request;
        request.id = node.address;
        request.size = node.size;
        heap_.allocate(request, number);
        header_.source = node_table;
    }
    table_.reset();
}

void HeapLogTrace::apply(const HeapCall &call, std::uint64_t number) {
    Request request;
    request.op = call.op;
    request.id = call.address;
    request.size = call.size;
    request.alignment = call.alignment;
    switch (call.meaning) {
    case Meaning::old_block:
        old_ = call.old;
        return;
    case Meaning::last_was_freed:
        heap_.free_last_some_time();
        return;
    case Meaning::list_begins:
        heap_.begin_list(number);
        return;
    case Meaning::call:
        break;
    }
    if (call.op == Op::free) {
        heap_.release(request, number);
    } else if (call.op == Op::resize) {
        heap_.resize(call.old == 0 ? old_ : call.old, request, number);
        old_ = 0;
    } else {
        heap_.allocate(request, number);
    }
}

std::vector<std::string> HeapLogTrace::notes() const {
    std::vector<std::string> told;
    if (dialect_ && !dialects[*dialect_].note.empty()) {
        told.emplace_back(dialects[*dialect_].note);
    }
    if (header_.source == node_table) {
        told.emplace_back(what_is_live);
        told.emplace_back(rounded_up);
        if (!has_order_) {
            told.emplace_back("Blocks come as they lie in memory: the order of their requests is "
                              "not told.");
        }
    }
    const std::vector<std::string> inferred = heap_.notes();
    told.insert(told.end(), inferred.begin(), inferred.end());
    if (other_lines_ != 0) {
        told.push_back(counted(other_lines_, "line", "lines") + " of other text passed over.");
    }
    return told;
}

} // namespace heapfit
