// SPDX-License-Identifier: Apache-2.0
#include "heapfit/trace/log_pattern.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "heapfit/compiler.hpp"
#include "heapfit/error.hpp"
#include "heapfit/trace/line.hpp"

namespace heapfit {

namespace {

bool take(std::string_view &line, std::string_view text) {
    const bool is_there = line.starts_with(text);
    line.remove_prefix(is_there ? text.size() : 0);
    return is_there;
}

// A number at the line's start, which loses it. 0x may stand twice before hexadecimal ones, or not
// at all, and no address may be a word.
std::optional<std::uint64_t> take_number(std::string_view &line, int base) {
    if (base == 16 && !line.empty() && line[0] != '0' &&
        (take(line, "(nil)") || take(line, "NULL"))) {
        return 0;
    }
    while (base == 16 && line.size() > 1 && line[0] == '0' && (line[1] == 'x' || line[1] == 'X')) {
        line.remove_prefix(2);
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

// Takes the groups behind a number's first digits, as of 1,024, and adds them to it; `before` and
// `behind` are what the pattern has there. Behind commas and in brackets that it is not alone in
// are other numbers, and at a pattern's end unless the line ends, too.
void take_thousands(std::string_view &line, char before, std::string_view behind,
                    std::uint64_t &value) {
    std::string_view rest = line;
    std::uint64_t sum = value;
    while (take(rest, ",")) {
        std::uint64_t group = 0;
        const char *const end = rest.data() + std::min<std::size_t>(rest.size(), 3);
        const auto result = std::from_chars(rest.data(), end, group);
        if (result.ptr != rest.data() + 3 || sum > UINT64_MAX / 1000 - 1) {
            return;
        }
        sum = sum * 1000 + group;
        rest.remove_prefix(3);
    }
    const bool is_told = behind.empty()
                             ? rest.empty()
                             : behind.front() != ',' && (behind.front() != ')' || before == '(');
    if (is_told && !begins_with_digit(rest)) {
        value = sum;
        line = rest;
    }
}

// Puts a number where its letter says.
void put(HeapCall &call, char letter, std::uint64_t value) {
    switch (letter) {
    case 'A':
        call.address = value;
        return;
    case 'O':
    case 'W':
        call.old = value;
        return;
    case 'L':
        call.alignment = value;
        return;
    case 'N':
        call.count = value;
        return;
    case 'T':
    case 'M':
    case 'Z':
        call.unit = letter == 'T' ? 1 : letter == 'M' ? 1000 : 1'000'000;
        call.time = value > UINT64_MAX / call.unit ? UINT64_MAX : value * call.unit;
        return;
    case 'K':
        call.thread = value;
        return;
    case 'C':
    case 'Q':
        call.add_caller(value);
        return;
    case 'I':
        return;
    case '2':
    case '4':
    case '8': { // words of so many bytes
        const auto word = static_cast<std::uint64_t>(letter - '0');
        call.size = value > UINT64_MAX / word ? UINT64_MAX : value * word;
        return;
    }
    default:
        call.size = value;
    }
}

// The base of a number's digits; those of some letters are hexadecimal where 0x says so.
int base_of(char letter, std::string_view line) {
    switch (letter) {
    case 'S':
    case 'N':
    case 'L':
    case 'T':
    case 'M':
    case 'Z':
        return 10;
    case 'U':
    case '2':
    case '4':
    case '8':
    case 'W':
    case 'K':
    case 'C':
        return line.starts_with("0x") || line.starts_with("0X") ? 16 : 10;
    default:
        return 16;
    }
}

// Takes a text in quotes, whose bytes and the zero behind them are the size of its copy.
bool take_quoted(std::string_view &line, HeapCall &call) {
    const std::size_t end = line.starts_with('"') ? line.find('"', 1) : line.npos;
    if (end != line.npos) {
        call.size = end;
        line.remove_prefix(end + 1);
    }
    return end != line.npos;
}

// Takes a word up to what ends it; "" if there is none.
std::string_view take_word(std::string_view &line, std::string_view ends) {
    const std::string_view word = line.substr(0, line.find_first_of(ends));
    line.remove_prefix(word.size());
    return word;
}

// Takes a name, up to the words behind `text`'s letter or the end of the word: of a task, of a
// function, with its line or without, or of a memory, which offers a capability.
bool take_name(std::string_view &line, std::string_view text, HeapCall &call) {
    constexpr std::string_view ends = " \t,;)]}|\":"; // a line behind a function has a colon
    const char letter = text[1];
    const bool is_caller = letter == 'P' || letter == 'C';
    const std::string_view behind = text.substr(2, text.find('%', 2) - 2);
    std::string_view rest = line;
    std::string_view name = take_word(rest, is_caller ? ends.substr(0, ends.size() - 1) : ends);
    name = name.substr(0, behind.empty() ? name.size() : line.find(behind));
    while (name.ends_with(':')) {
        name.remove_suffix(1);
    }
    line.remove_prefix(name.size());
    if (letter == 'V' || letter == 'K') {
        call.thread = number_of(name);
    } else if (is_caller) {
        call.add_caller(number_of(name));
    } else {
        constexpr std::uint8_t internal = 1; // recorder/capabilities.h
        constexpr std::uint8_t external = 8;
        call.served = name.starts_with("Int") ? internal : external;
    }
    return !name.empty();
}

// Takes callers, with colons between them.
void take_callers(std::string_view &line, HeapCall &call) {
    do {
        const std::optional<std::uint64_t> caller = take_number(line, 16);
        call.add_caller(caller.value_or(0));
    } while (take(line, ":0x") || take(line, ", 0x"));
}

// Takes text that may differ: of a function's name up to its bracket, else up to the words behind
// `text`'s letter, if they are there.
bool take_any(std::string_view &line, std::string_view text) {
    const std::string_view behind = text[1] == 'F' ? "(" : text.substr(2, text.find('%', 2) - 2);
    const std::size_t at = line.find(behind);
    line.remove_prefix(std::min(at, line.size()));
    return text[1] == 'F' || at != line.npos;
}

struct Capability {
    std::string_view name; // behind MALLOC_CAP_
    unsigned bit;
    std::uint8_t needs; // bits of docs/evidence/schemas.md
};

// Of ESP-IDF's esp_heap_caps.h those that say where a block must lie.
constexpr auto capabilities = std::to_array<Capability>({{"INTERNAL", 11, 1},
                                                         {"DMA", 3, 2},
                                                         {"EXEC", 0, 4},
                                                         {"SPIRAM", 10, 8},
                                                         {"8BIT", 2, 128},
                                                         {"DEFAULT", 12, 0}});

// Takes capabilities up to the words behind `text`'s letter. What asks for DEFAULT needs nothing,
// as in recorder/target/adapters/esp_idf.c.
bool take_capabilities(std::string_view &line, std::string_view text, HeapCall &call) {
    std::string_view told = line;
    const bool is_there = take_any(line, text);
    told.remove_suffix(line.size());
    std::string_view rest = told;
    const std::optional<std::uint64_t> bits = take_number(rest, told.starts_with("0x") ? 16 : 10);
    for (const Capability &one : capabilities) {
        if (bits ? (*bits >> one.bit & 1) != 0 : told.find(one.name) != told.npos) {
            call.needs = one.needs == 0 ? one.needs : call.needs | one.needs;
        }
    }
    return is_there;
}

// Takes the number of a heap, 0 or 1, if an address is behind it.
void take_heap(std::string_view &line) {
    if (line.starts_with("0,") || line.starts_with("1,")) {
        std::string_view behind = line.substr(2);
        line.remove_prefix(take_number(behind, 16) ? 2 : 0);
    }
}

// Takes what a pattern has up to its next field, a blank being one or more; false if it is not
// there.
bool take_words(std::string_view &line, std::string_view &text) {
    std::size_t at = 0;
    std::size_t taken = 0; // of the line
    while (at < text.size() && (text[at] != '%' || text[at + 1] == '%')) {
        if (taken == line.size() || line[taken] != text[at]) {
            return false;
        }
        taken++;
        while (text[at] == ' ' && taken < line.size() && line[taken] == ' ') {
            taken++;
        }
        at += text[at] == '%' ? 2 : 1;
    }
    line.remove_prefix(taken);
    text.remove_prefix(at);
    return true;
}

// Takes a field, of which `text` begins with the letter, behind `before`; false if it is not there.
bool take_field(std::string_view &line, char before, std::string_view text, HeapCall &call) {
    if (text[1] == 'F' || text[1] == 'X') {
        return take_any(line, text);
    }
    if (text[1] == 'Y') {
        return take_capabilities(line, text, call);
    }
    if (text[1] == 'D') {
        take_heap(line);
        return true;
    }
    if (text[1] == 'G') {
        return take_quoted(line, call);
    }
    if (text[1] == 'B') {
        take_callers(line, call);
        return true;
    }
    if (text[1] == 'V' || text[1] == 'P' || text[1] == 'E') {
        return take_name(line, text, call);
    }
    const int base = base_of(text[1], line);
    std::optional<std::uint64_t> value = take_number(line, base);
    if (value) {
        if (base == 10 && *value < 1000 && line.starts_with(',')) {
            take_thousands(line, before, text.substr(2), *value);
        }
        put(call, text[1], *value);
        if ((text[1] == 'M' || text[1] == 'Z') && !text.substr(2).starts_with('.')) {
            const std::uint64_t fraction = take_fraction(line, text[1] == 'M' ? 1000 : 1'000'000);
            call.time += std::min(fraction, UINT64_MAX - call.time);
        }
        return true;
    }
    return (text[1] == 'C' || text[1] == 'K') && take_name(line, text, call);
}

// Takes the rest of a call of which `taken` characters of the pattern are taken, if it is there.
bool take_call(std::string_view &line, const LogPattern &pattern, std::size_t taken,
               HeapCall &call) {
    call = {};
    call.op = pattern.op;
    call.meaning = pattern.meaning;
    std::string_view text = pattern.text.substr(taken);
    while (take_words(line, text)) {
        if (text.empty()) {
            // A product that no heap can serve: what calloc is to refuse.
            if (multiply(call.size, call.count)) {
                call.address = 0;
                call.size = UINT64_MAX;
            }
            return true;
        }
        const std::size_t at = pattern.text.size() - text.size();
        if (!take_field(line, at == 0 ? ' ' : pattern.text[at - 1], text, call)) {
            return false;
        }
        text.remove_prefix(2);
    }
    return false;
}

bool is_digit(char letter, bool is_hexadecimal) {
    return (letter >= '0' && letter <= '9') ||
           (is_hexadecimal && ((letter >= 'a' && letter <= 'f') ||
                               (letter >= 'A' && letter <= 'F') || letter == 'x' || letter == 'X'));
}

// Whether the character before `at` may be part of a field that ends behind it: of a time, which
// may have decimals, of a name or of another number.
bool is_part(char field, std::string_view line, std::size_t at) {
    constexpr std::string_view names = "CKPVE";
    constexpr std::string_view no_name = " \t,;()[]{}|\"";
    const char letter = line[at - 1];
    if (names.find(field) != names.npos) {
        return no_name.find(letter) == no_name.npos;
    }
    return is_digit(letter, base_of(field, "0x") == 16) ||
           ((field == 'M' || field == 'Z') && letter == '.' && is_digit(line[at], false));
}

// Where in a line from `from` on a pattern may begin that begins with a field, or npos: it is found
// by the words behind it.
std::size_t start_of_field(std::string_view line, const LogPattern &pattern, std::size_t from) {
    constexpr std::size_t longest = 64; // characters of a field that are looked at
    std::size_t at = line.find(pattern.words, from);
    const std::size_t first = std::max(from, at == line.npos || at < longest ? 0 : at - longest);
    while (at != line.npos && at > first && is_part(pattern.text[1], line, at)) {
        at--;
    }
    return at;
}

// From where to where in its line a call stands.
struct Found {
    std::size_t begin = 0;
    std::size_t end = 0;
};

// Looks for a pattern in a line; false if it is not there, with a `begin` of npos if its words are
// not.
bool find_pattern(std::string_view line, const LogPattern &pattern, Found &found, HeapCall &call) {
    const bool begins_with_field = pattern.text.front() == '%';
    const std::string_view words = begins_with_field ? "" : pattern.words;
    const auto start = [&](std::size_t from) {
        return begins_with_field ? start_of_field(line, pattern, from)
                                 : line.find(pattern.words, from);
    };
    std::size_t at = start(0);
    if (at == line.npos) { // as most patterns are of most lines
        found.begin = line.npos;
        return false;
    }
    std::size_t left = 250; // places to begin at: a line made of its first words has thousands
    for (HeapCall tried; at != line.npos && left != 0; at = start(at + 1), left--) {
        std::string_view behind = line.substr(at + words.size());
        while (words.ends_with(' ') && pattern.blanks_differ && take(behind, " ")) {
        }
        if (take_call(behind, pattern, words.size(), tried)) {
            found = {at, line.size() - behind.size()};
            call = tried;
            return true;
        }
    }
    return false;
}

// A letter's bit in a set of letters, where some share one.
std::uint64_t letter_bit(char letter) {
    return std::uint64_t{1} << (static_cast<unsigned char>(letter) % 64);
}

// The letters of a line: words that begin with another are not in it.
std::uint64_t letters_of(std::string_view line) {
    std::uint64_t letters = 0;
    for (const char letter : line) {
        letters |= letter_bit(letter);
    }
    return letters;
}

// The call of the first pattern that a line has; false if it has none.
bool find_call(std::string_view line, std::span<const LogPattern> patterns, Found &found,
               HeapCall &call) {
    constexpr std::size_t most_frequent = 2; // patterns, that stand first
    std::string_view missing;                // words, with which several patterns begin
    std::uint64_t letters = ~std::uint64_t{0};
    for (const LogPattern &pattern : patterns) {
        if (&pattern == patterns.data() + most_frequent) {
            letters = letters_of(line);
        }
        const bool is_missing =
            !pattern.words.empty() &&
            ((letters & letter_bit(pattern.words.front())) == 0 || pattern.words == missing);
        if (is_missing) {
            continue;
        }
        Found here;
        if (find_pattern(line, pattern, here, call)) {
            found = here;
            return true;
        }
        missing = here.begin == line.npos ? pattern.words : "";
    }
    return false;
}

bool has_digit(std::string_view text) {
    return std::ranges::any_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

struct Field {
    std::string_view name;
    char letter;
};

constexpr auto fields = std::to_array<Field>({{"address", 'A'},
                                              {"address:x", 'A'},
                                              {"old", 'O'},
                                              {"old:x", 'O'},
                                              {"size", 'U'},
                                              {"size:x", 'H'},
                                              {"size:w2", '2'},
                                              {"size:w4", '4'},
                                              {"size:w8", '8'},
                                              {"count", 'N'},
                                              {"task", 'K'},
                                              {"site", 'C'},
                                              {"site:x", 'Q'},
                                              {"time:us", 'T'},
                                              {"time:ms", 'M'},
                                              {"time:s", 'Z'},
                                              {"memory", 'V'},
                                              {"caps", 'Y'},
                                              {"any", 'X'}});

char letter_of(std::string_view name) {
    const auto found = std::ranges::find(fields, name, &Field::name);
    if (found == fields.end()) {
        throw Error(quoted(name) +
                    " is none of address, size, size:x, size:w2, size:w4, size:w8, "
                    "count, old, task, site, time:s, time:ms, time:us, memory, caps, any");
    }
    return found->letter;
}

// What a call needs: its address, or in a log of sizes alone its size, and of a resize the old one.
void check_letters(const std::string &letters, Op op, bool by_size) {
    const auto has = [&letters](char letter) { return letters.find(letter) != letters.npos; };
    if (!by_size && !has('A')) {
        throw Error("it needs {address}, as the other lines have");
    }
    if ((by_size || op != Op::free) && letters.find_first_of("UH248") == letters.npos) {
        throw Error("it needs {size}");
    }
    if (op == Op::resize && !has('O') && !has('W')) {
        throw Error(by_size ? "it needs {old}, the size before"
                            : "it needs {old}, the block before");
    }
}

// Where the field ends that a line begins with, or npos: other braces are text, as of JSON.
std::size_t end_of_field(std::string_view line) {
    const std::size_t end = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz:0123456789", 1);
    const bool is_field = line.front() == '{' && end != line.npos && end > 1 && line[end] == '}';
    return is_field && !begins_with_digit(line.substr(1)) ? end : line.npos;
}

std::string pattern_of(std::string_view line, Op op, bool by_size) {
    std::string text;
    std::string letters;
    bool is_behind_field = true; // or at the beginning, where {any} would be no place to begin at
    while (!line.empty()) {
        const std::size_t end = end_of_field(line);
        if (end == line.npos) {
            if (line.front() != ' ' || !text.ends_with(' ')) { // one blank stands for any number
                text += line.front() == '%' ? "%%" : std::string(1, line.front());
            }
            line.remove_prefix(1);
            is_behind_field = false;
            continue;
        }
        letters += letter_of(line.substr(1, end - 1));
        if (by_size && letters.back() == 'O') {
            letters.back() = 'W';
        }
        if (is_behind_field && (letters.size() > 1 || letters == "X")) {
            throw Error("words have to stand before " + std::string(line.substr(0, end + 1)));
        }
        text += {'%', letters.back()};
        line.remove_prefix(end + 1);
        is_behind_field = true;
    }
    if (text.size() == 2 * letters.size() || text.starts_with("%%")) {
        throw Error("it has no words, or begins with %");
    }
    check_letters(letters, op, by_size);
    return text;
}

} // namespace

bool has_addresses(const std::vector<OwnLine> &lines) {
    return std::ranges::any_of(
        lines, [](const OwnLine &line) { return line.text.find("{address}") != line.text.npos; });
}

std::string to_pattern(const OwnLine &line, bool by_size) {
    try {
        return pattern_of(line.text, line.op, by_size);
    } catch (const Error &error) {
        throw Error("line " + quoted(line.text) + ": " + error.what());
    }
}

std::uint32_t number_of(std::string_view bytes) {
    std::uint32_t hash = 0x811c9dc5;
    for (const char byte : bytes) {
        hash = (hash ^ static_cast<unsigned char>(byte)) * 0x01000193;
    }
    return hash;
}

bool take_next_call(std::string_view &line, std::span<const LogPattern> patterns, HeapCall &call) {
    constexpr std::size_t shortest_call = 4;
    Found found;
    if (line.size() < shortest_call || !find_call(line, patterns, found, call)) {
        return false;
    }
    // Another may stand before it: a call has a number at least.
    while (has_digit(line.substr(0, found.begin)) &&
           find_call(line.substr(0, found.begin), patterns, found, call)) {
    }
    line.remove_prefix(found.end);
    return true;
}

} // namespace heapfit
