// SPDX-License-Identifier: Apache-2.0
// What the line formats (text, .rep, CSV) share: bytes in chunks of any split become lines of
// bounded length, words and numbers; LineTrace<Lines> joins them with a TraceBuilder. Numbers are
// digits and nothing else (std::from_chars): no sign, no "1_000", no digits of other scripts.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "heapfit/error.hpp"
#include "heapfit/trace/builder.hpp"

namespace heapfit {

inline constexpr std::size_t longest_line = 4096;

// What a source tells of itself; empty or 0 where it does not.
struct TraceHeader {
    std::string program;
    std::string source;
    unsigned pointer_bits = 0;
};

[[noreturn]] void refuse_line(std::uint64_t number, const std::string &what);

// A word of the input, safe to print: at most 40 characters, others than printable ASCII as '?'.
[[nodiscard]] std::string quoted(std::string_view word);

[[nodiscard]] bool begins_with_digit(std::string_view text);

// Takes the digits behind a point, of a number of `unit` microseconds; 0 without a point.
[[nodiscard]] std::uint64_t take_fraction(std::string_view &line, std::uint64_t unit);

// What separates the fields of a table whose first line this is: a comma, a semicolon or a tab.
[[nodiscard]] char separator_of(std::string_view header);

// Columns of a table that are not known: the first of them are named, all are passed over.
class UnknownColumns {
  public:
    void add(std::string_view name);

    // One sentence each.
    [[nodiscard]] const std::vector<std::string> &notes() const { return notes_; }

  private:
    std::vector<std::string> notes_;
};

// Cuts a table's line into its fields, without the blanks and quotes around them; "" inside of
// quotes, which no value of ours has, stays.
void split_row(std::string_view rest, char separator, std::uint64_t number,
               std::vector<std::string_view> &fields);

// Without the blanks around it.
[[nodiscard]] std::string_view trimmed(std::string_view field);

// With its Latin letters small.
[[nodiscard]] std::string lowered(std::string_view word);

// Reads `# key value`: name, source, pointer_bits and the format's version; other keys are
// comments.
void read_header_line(std::string_view line, std::uint64_t number, TraceHeader &header);

// The words of one line, between blanks and tabs.
class Words {
  public:
    explicit Words(std::string_view line) : rest_(line) { skip_blanks(); }

    [[nodiscard]] bool is_done() const { return rest_.empty(); }

    std::string_view next() {
        std::size_t end = 0;
        while (end < rest_.size() && !is_blank(rest_[end])) {
            end++;
        }
        const std::string_view word = rest_.substr(0, end);
        rest_.remove_prefix(end);
        skip_blanks();
        return word;
    }

    // What is left of the line.
    [[nodiscard]] std::string_view rest() const { return rest_; }

    // The next `count` bytes, whatever they are; there are that many.
    std::string_view next_bytes(std::size_t count) {
        const std::string_view bytes = rest_.substr(0, count);
        rest_.remove_prefix(count);
        skip_blanks();
        return bytes;
    }

  private:
    [[nodiscard]] static bool is_blank(char c) { return c == ' ' || c == '\t'; }

    void skip_blanks() {
        while (!rest_.empty() && is_blank(rest_.front())) {
            rest_.remove_prefix(1);
        }
    }

    std::string_view rest_;
};

// The number a whole word spells, or an Error that says which field of which line is none.
template <std::unsigned_integral Number>
[[nodiscard]] Number to_number(std::string_view word, std::uint64_t line, const char *field,
                               int base = 10) {
    Number value{};
    const char *end = word.data() + word.size();
    const std::from_chars_result result = std::from_chars(word.data(), end, value, base);
    if (result.ec != std::errc{} || result.ptr != end) {
        refuse_line(line, std::string(field) + " " + quoted(word) +
                              " is not a whole number from 0 to " +
                              std::to_string(std::numeric_limits<Number>::max()));
    }
    return value;
}

// Cuts chunks into lines, without their "\n" or "\r\n"; keeps the unfinished tail for the next
// chunk.
class LineSplitter {
  public:
    // Lines above `longest` bytes are refused, or taken in pieces.
    explicit LineSplitter(std::size_t longest = longest_line, bool in_pieces = false)
        : longest_(longest), in_pieces_(in_pieces) {}

    // Calls take(line, number) for each line; numbers count from 1.
    template <class Take> void feed(std::string_view chunk, Take take) {
        for (std::size_t end = chunk.find('\n'); end != chunk.npos; end = chunk.find('\n')) {
            const std::string_view line = chunk.substr(0, end);
            chunk.remove_prefix(end + 1);
            if (tail_.empty()) {
                pass(line, take);
            } else {
                keep(line, take);
                pass(tail_, take);
                tail_.clear();
            }
        }
        keep(chunk, take);
    }

    // The last line may lack its newline.
    template <class Take> void finish(Take take) {
        if (!tail_.empty()) {
            pass(tail_, take);
            tail_.clear();
        }
    }

  private:
    template <class Take> void pass(std::string_view line, Take take) {
        number_++;
        while (line.size() > longest_) {
            line.remove_prefix(pass_piece(line, number_, take));
        }
        if (!line.empty() && line.back() == '\r') {
            line.remove_suffix(1);
        }
        take(line, number_);
    }

    template <class Take> void keep(std::string_view part, Take take) {
        while (tail_.size() + part.size() > longest_) {
            const std::size_t size = longest_ + 1 - tail_.size(); // by which it is too long
            tail_ += part.substr(0, size);
            part.remove_prefix(size);
            tail_.erase(0, pass_piece(tail_, number_ + 1, take));
        }
        tail_ += part;
    }

    // Takes the front of a line that is too long, up to the last end of a call or else of a word,
    // or else to where no number is cut.
    template <class Take>
    std::size_t pass_piece(std::string_view line, std::uint64_t number, Take take) const {
        if (!in_pieces_) {
            refuse_line(number, "longer than " + std::to_string(longest_) + " bytes");
        }
        line = line.substr(0, longest_);
        for (const char *ends : {")};", " ", "(){}[]<>,;:=|/\\\"'#@-+\t"}) {
            const std::size_t last = line.find_last_of(ends);
            if (last != line.npos && last >= longest_ / 2) {
                line = line.substr(0, last + 1);
                break;
            }
        }
        take(line, number);
        return line.size();
    }

    std::size_t longest_;
    bool in_pieces_;
    std::string tail_;
    std::uint64_t number_ = 0;
};

// Where a file ends that was cut inside a line.
[[nodiscard]] std::string cut_inside(std::uint64_t number);

// Reads a last line without its newline, which was cut if it cannot be read and there is anything
// before it. The result says where the file ends then; "" if the line is whole.
template <class Take>
[[nodiscard]] std::string take_unfinished(std::string_view line, std::uint64_t number, Take take) {
    try {
        take(line, number);
        return "";
    } catch (const Error &) {
        if (number == 1) {
            throw;
        }
        return cut_inside(number);
    }
}

// A format read line by line. `Lines` has take(line, number, builder) and finish() or
// finish(builder).
template <class Lines> class LineTrace {
  public:
    explicit LineTrace(OnUnknown on_unknown) : builder_(on_unknown) {}

    void feed(std::string_view chunk) {
        splitter_.feed(chunk, [this](auto line, auto number) { take(line, number); });
    }

    void finish() {
        splitter_.finish([this](auto line, auto number) { take_last(line, number); });
        if constexpr (requires { lines_.finish(builder_); }) {
            lines_.finish(builder_);
        } else {
            lines_.finish();
        }
        builder_.finish();
    }

    [[nodiscard]] TraceBuilder &builder() { return builder_; }
    [[nodiscard]] const TraceHeader &header() const { return header_; }

    [[nodiscard]] std::vector<std::string> notes() const {
        std::vector<std::string> told = builder_.notes();
        if constexpr (requires { lines_.notes(); }) {
            std::ranges::copy(lines_.notes(), std::back_inserter(told));
        }
        if (!end().empty()) {
            told.push_back("The rest is left out, from " + end());
        }
        return told;
    }

    // What of the file was not read: its end or what its format passed over; "" if all was.
    [[nodiscard]] std::string damage() const {
        if constexpr (requires { lines_.passed_over(); }) {
            return end().empty() ? lines_.passed_over() : end();
        } else {
            return end();
        }
    }

  private:
    // Where the file ends too early; "" if it does not.
    [[nodiscard]] std::string end() const {
        if constexpr (requires { lines_.damage(); }) {
            return cut_.empty() ? lines_.damage() : cut_;
        } else {
            return cut_;
        }
    }

    void take(std::string_view line, std::uint64_t number) {
        if (line.empty()) {
            return;
        }
        if (line.front() == '#') {
            read_header_line(line, number, header_);
            return;
        }
        lines_.take(line, number, builder_);
    }

    void take_last(std::string_view line, std::uint64_t number) {
        cut_ = take_unfinished(line, number, [this](auto last, auto at) { take(last, at); });
        if (cut_.empty() && !end().empty()) {
            cut_ = end() + " (so may be the last number of line " + std::to_string(number) + ")";
        }
    }

    LineSplitter splitter_;
    Lines lines_;
    TraceBuilder builder_;
    TraceHeader header_;
    std::string cut_; // where the file ends inside a line; "" if it does not
};

} // namespace heapfit
