// SPDX-License-Identifier: Apache-2.0
// One line of a heap's log to one call: by patterns, of which a dialect is a list.
#include "heapfit/trace/heap_log.hpp"

#include <array>
#include <charconv>
#include <span>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// What must stand in a line, anywhere. %A address, %O old address, %I any address: hexadecimal; %S
// size, %N count of them, %L alignment: decimal; %H size, hexadecimal.
struct Pattern {
    std::string_view text;
    Op op;
    bool is_half = false;
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
    {"] < %O", Op::resize, true},
    {"] > %A %H", Op::resize},
});
constexpr auto calls = std::to_array<Pattern>({
    {"malloc(%S) = %A", Op::alloc},
    {"malloc(%S) @ %I returned %A", Op::alloc},
    {"pvPortMalloc(%S) = %A", Op::alloc},
    {"_Znwm(%S) = %A", Op::alloc},
    {"_Znam(%S) = %A", Op::alloc},
    {"_Znwj(%S) = %A", Op::alloc},
    {"_Znaj(%S) = %A", Op::alloc},
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
    {"_ZdlPv(%A)", Op::free},
    {"_ZdaPv(%A)", Op::free},
});

struct Dialect {
    std::string_view source;
    std::span<const Pattern> patterns;
    std::string_view note; // what its sizes are, where they are not requests
};

constexpr auto dialects = std::to_array<Dialect>({
    {"heaplog", heaplog, ""},
    {"wolfSSL's memory log", wolfssl, ""},
    {"NuttX's memory log", nuttx,
     "Sizes are those of chunks, which the heap had rounded up: requests are less."},
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

// The rest of a pattern, whose first words were found before `line`.
std::optional<HeapCall> matched(std::string_view line, const Pattern &pattern,
                                std::string_view text) {
    HeapCall call;
    call.op = pattern.op;
    call.is_half = pattern.is_half;
    while (!text.empty()) {
        if (text.front() != '%') {
            if (!take(line, text.substr(0, 1))) {
                return std::nullopt;
            }
            text.remove_prefix(1);
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

std::optional<HeapCall> call_in(std::string_view line, std::span<const Pattern> patterns) {
    for (const Pattern &pattern : patterns) {
        const std::size_t words = pattern.text.find('%');
        const std::size_t at = line.find(pattern.text.substr(0, words));
        if (at == line.npos) {
            continue;
        }
        const std::optional<HeapCall> call =
            matched(line.substr(at + words), pattern, pattern.text.substr(words));
        if (call) {
            return call;
        }
    }
    return std::nullopt;
}

std::optional<std::size_t> dialect_of(std::string_view line) {
    for (std::size_t i = 0; i < dialects.size(); i++) {
        const std::optional<HeapCall> call = call_in(line, dialects[i].patterns);
        if (call && call->op != Op::free) {
            return i;
        }
    }
    return std::nullopt;
}

std::string counted(std::uint64_t count, const char *one, const char *many) {
    return std::to_string(count) + " " + (count == 1 ? one : many);
}

} // namespace

bool has_heap_log(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::size_t end = bytes.find('\n');
        if (dialect_of(bytes.substr(0, end))) {
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
    builder_.finish();
}

void HeapLogTrace::take(std::string_view line, std::uint64_t number) {
    if (!dialect_) {
        dialect_ = dialect_of(line);
        header_.source = dialect_ ? dialects[*dialect_].source : "";
    }
    const std::optional<HeapCall> call =
        dialect_ ? call_in(line, dialects[*dialect_].patterns) : std::nullopt;
    if (!call) {
        other_lines_++;
        return;
    }
    apply(*call, number);
}

void HeapLogTrace::apply(const HeapCall &call, std::uint64_t number) {
    if (call.is_half) {
        old_ = call.old;
    } else if (call.op == Op::free) {
        release(call.address, number);
    } else if (call.op == Op::resize) {
        HeapCall whole = call;
        whole.old = call.old == 0 ? old_ : call.old;
        old_ = 0;
        resize(whole, number);
    } else {
        allocate(call, number);
    }
}

// A free of nothing is none.
void HeapLogTrace::release(std::uint64_t address, std::uint64_t number) {
    if (address == 0) {
        return;
    }
    live_.erase(address);
    Request request;
    request.op = Op::free;
    request.id = address;
    builder_.add(request, number);
}

// A block that is given again was freed by a line that is missing.
void HeapLogTrace::allocate(const HeapCall &call, std::uint64_t number) {
    if (call.address == 0) {
        refused_++;
        return;
    }
    if (live_.contains(call.address)) {
        given_again_++;
        release(call.address, number);
    }
    live_.insert(call.address);
    Request request;
    request.op = call.op == Op::resize ? Op::alloc : call.op;
    request.id = call.address;
    request.size = call.size;
    request.alignment = call.alignment;
    builder_.add(request, number);
}

void HeapLogTrace::resize(const HeapCall &call, std::uint64_t number) {
    if (call.address == 0 && call.size == 0) {
        release(call.old, number);
        return;
    }
    if (call.address == 0 || !live_.contains(call.old)) {
        allocate(call, number);
        return;
    }
    if (call.address != call.old) {
        if (live_.contains(call.address)) {
            given_again_++;
            release(call.address, number);
        }
        live_.erase(call.old);
        live_.insert(call.address);
        (void)builder_.rename(call.old, call.address, number);
    }
    Request request;
    request.op = Op::resize;
    request.id = call.address;
    request.size = call.size;
    builder_.add(request, number);
}

std::vector<std::string> HeapLogTrace::notes() const {
    std::vector<std::string> told;
    if (dialect_ && !dialects[*dialect_].note.empty()) {
        told.emplace_back(dialects[*dialect_].note);
    }
    if (given_again_ != 0) {
        told.push_back(counted(given_again_, "block", "blocks") +
                       " taken as freed, in whose place others were given.");
    }
    if (refused_ != 0) {
        told.push_back(counted(refused_, "request", "requests") +
                       " that the heap refused left out.");
    }
    if (other_lines_ != 0) {
        told.push_back(counted(other_lines_, "line", "lines") + " of other text passed over.");
    }
    const std::vector<std::string> dropped = builder_.notes();
    told.insert(told.end(), dropped.begin(), dropped.end());
    return told;
}

} // namespace heapfit
