// SPDX-License-Identifier: Apache-2.0
// The header lines and the error lines of the line formats.
#include "heapfit/trace/line.hpp"

namespace heapfit {

namespace {

constexpr std::size_t longest_quote = 40;

// "?" and "0" both say that the source did not know.
unsigned to_pointer_bits(std::string_view word, std::uint64_t number) {
    if (word == "?" || word == "0") {
        return 0;
    }
    if (word == "32" || word == "64") {
        return word == "32" ? 32 : 64;
    }
    refuse_line(number, "pointer_bits " + quoted(word) + " is none of 32, 64, ?");
}

std::string_view value_after(std::string_view line, std::string_view key) {
    const std::size_t start = line.find_first_not_of(" \t", line.find(key) + key.size());
    return start == line.npos ? std::string_view{} : line.substr(start);
}

void skip_blanks(std::string_view &rest) {
    while (!rest.empty() && rest.front() == ' ') {
        rest.remove_prefix(1);
    }
}

// Takes a quoted field off the front of `rest`.
std::string_view take_quoted(std::string_view &rest, std::uint64_t number) {
    std::size_t end = rest.find('"', 1);
    while (end != rest.npos && rest.substr(end + 1).starts_with('"')) {
        end = rest.find('"', end + 2);
    }
    if (end == rest.npos) {
        refuse_line(number, "a quoted field does not end");
    }
    const std::string_view field = rest.substr(1, end - 1);
    rest.remove_prefix(end + 1);
    return field;
}

} // namespace

void refuse_line(std::uint64_t number, const std::string &what) {
    throw Error("line " + std::to_string(number) + ": " + what);
}

std::string cut_inside(std::uint64_t number) {
    return "line " + std::to_string(number) + ": the file ends inside this line (it was cut " +
           "short; copy or record it again)";
}

bool begins_with_digit(std::string_view text) {
    return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

std::uint64_t take_fraction(std::string_view &line, std::uint64_t unit) {
    std::uint64_t sum = 0;
    if (line.starts_with('.') && begins_with_digit(line.substr(1))) {
        for (line.remove_prefix(1); begins_with_digit(line); line.remove_prefix(1)) {
            unit /= 10;
            sum += unit * static_cast<std::uint64_t>(line.front() - '0');
        }
    }
    return sum;
}

std::string quoted(std::string_view word) {
    std::string text = "\"";
    for (const char c : word.substr(0, longest_quote)) {
        text += c >= ' ' && c <= '~' ? c : '?';
    }
    return text + (word.size() > longest_quote ? "...\"" : "\"");
}

char separator_of(std::string_view header) {
    const std::size_t first = header.find_first_of(",;\t");
    return first == header.npos ? ',' : header[first];
}

void UnknownColumns::add(std::string_view name) {
    constexpr std::size_t most_named = 8;
    if (notes_.size() < most_named) {
        notes_.push_back("Column " + quoted(name) + " passed over: not known.");
    }
}

std::string_view trimmed(std::string_view field) {
    while (!field.empty() && field.front() == ' ') {
        field.remove_prefix(1);
    }
    while (!field.empty() && field.back() == ' ') {
        field.remove_suffix(1);
    }
    return field;
}

void split_row(std::string_view rest, char separator, std::uint64_t number,
               std::vector<std::string_view> &fields) {
    fields.clear();
    while (true) {
        skip_blanks(rest);
        if (rest.starts_with('"')) {
            fields.push_back(take_quoted(rest, number));
            skip_blanks(rest);
            if (!rest.empty() && rest.front() != separator) {
                refuse_line(number, "text after a quoted field");
            }
        } else {
            const std::string_view text = rest.substr(0, rest.find(separator));
            fields.push_back(trimmed(text));
            rest.remove_prefix(text.size());
        }
        if (rest.empty()) {
            return;
        }
        rest.remove_prefix(1);
    }
}

std::string lowered(std::string_view word) {
    std::string text(word);
    for (char &letter : text) {
        letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    return text;
}

void read_header_line(std::string_view line, std::uint64_t number, TraceHeader &header) {
    line.remove_prefix(1);
    Words words(line);
    const std::string_view key = words.next();
    if (key == "heap-events" && words.next() != "1") {
        refuse_line(number, "heap-events of another version (this program reads version 1)");
    } else if (key == "name") {
        header.program = value_after(line, key);
    } else if (key == "source") {
        header.source = value_after(line, key);
    } else if (key == "pointer_bits") {
        header.pointer_bits = to_pointer_bits(words.next(), number);
    }
}

} // namespace heapfit
