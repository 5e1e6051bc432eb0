// SPDX-License-Identifier: Apache-2.0
// A line of a log to the calls that it tells, by patterns.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

// What kind of line it is.
enum class Meaning {
    call,
    old_block,      // mtrace tells a resize in two lines: this one has the old block alone
    last_was_freed, // at a time that is not told
    list_begins,    // of what is live
};

// Innermost first; 0 = none.
using Callers = std::array<std::uint32_t, 4>;

// What a line says of the heap.
struct HeapCall {
    Op op = Op::alloc;
    std::uint64_t old = 0;     // of a resize: the block before; 0 = none
    std::uint64_t address = 0; // 0 = refused; of a free: none
    std::uint64_t size = 0;
    std::uint64_t count = 1; // of such sizes
    std::uint64_t alignment = 0;
    std::uint64_t time = 0; // us
    std::uint64_t unit = 0; // us in one of what the line counts; 0 = it has no time
    std::uint64_t thread = 0;
    std::uint8_t served = 0; // bits of what its memory offers; 0 = unknown
    std::uint8_t needs = 0;  // bits of what its memory must offer
    Callers callers{};
    Meaning meaning = Meaning::call;

    // The next one out; what does not fit is left out, of an address its upper half.
    constexpr void add_caller(std::uint64_t caller) {
        for (std::uint32_t &place : callers) {
            if (place == 0) {
                place = static_cast<std::uint32_t>(caller);
                return;
            }
        }
    }
};

// What must stand in a line, anywhere. %A address, %O old address, %I any address: hexadecimal; %S
// size, %N count of them, %L alignment: decimal; %2, %4, %8 size in words of so many bytes; %H
// size, hexadecimal; %U size, %W old size, %K task, %C site: decimal or behind 0x hexadecimal, of a
// task or site its name, too; %Q site, hexadecimal; %B callers with colons between them, %P one by
// its name; %G a text in quotes, of which a copy is made; %V a task's name; %E a memory's; %Y
// ESP-IDF's capabilities, as a number or by their names; %T time in us, %M in ms, %Z in s; %F the
// rest of a function's name; %X any text up to what follows; %D "0," or "1,", a heap, if an address
// is behind it; %% a percent sign; a blank: one or more.
struct LogPattern {
    // `blanks_differ`: in the words before the first field, too.
    constexpr LogPattern(std::string_view text, Op op, Meaning meaning = Meaning::call,
                         bool blanks_differ = false)
        : text(text), op(op), meaning(meaning), blanks_differ(blanks_differ) {
        const std::size_t start = text.starts_with('%') ? 2 : 0;
        const std::size_t blank = blanks_differ ? text.find(' ', start + 1) : text.npos;
        const std::size_t end = text.find('%', start);
        words = text.substr(start, (blank < end ? blank + 1 : end) - start);
    }

    std::string_view text;
    std::string_view
        words; // that a line must have as they stand, behind a first field if it begins so
    Op op;
    Meaning meaning;
    bool blanks_differ;
};

// A line as its user describes it: "Allocated {size} bytes at {address}". Fields are {address},
// {size} ({size:x} where hexadecimal digits have no 0x, {size:w4} in words of 4 bytes), {count} of
// such sizes, {old} of a resize, {task}, {memory}, {site}, {time:us} ({time:ms}, {time:s}), and
// {any} for text that differs. In a log whose lines have no {address} a free has {size}, and {old}
// is the size before.
struct OwnLine {
    Op op;
    std::string text;
};

// What stands for a name, or for several callers: FNV-1a of its bytes.
[[nodiscard]] std::uint32_t number_of(std::string_view bytes);

// Whether any of the lines tells an address.
[[nodiscard]] bool has_addresses(const std::vector<OwnLine> &lines);

// The pattern's text of a line of the user's own; `by_size`: of a log without addresses. Throws
// Error, with the line, where it lacks a field that its call needs, or cannot be found by words.
[[nodiscard]] std::string to_pattern(const OwnLine &line, bool by_size);

// Takes the next call in a line, and all before it; false if there is none.
[[nodiscard]] bool take_next_call(std::string_view &line, std::span<const LogPattern> patterns,
                                  HeapCall &call);

} // namespace heapfit
