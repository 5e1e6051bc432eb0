// SPDX-License-Identifier: Apache-2.0
#include "heapfit/capture/packet_table.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr std::string_view title = "# packet-sizes ";
constexpr std::string_view supported_version = "1";
constexpr std::size_t longest_line = 4096;
constexpr int plain_fields = 5; // wire_len proto flow dir tcp_payload: checked, not used

// Takes the next field, up to a space, off the line.
std::string_view next_field(std::string_view &line) {
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return field;
}

template <class Number> bool is_number(std::string_view field, Number &value, int base = 10) {
    const char *const end = field.data() + field.size();
    const auto [rest, problem] = std::from_chars(field.data(), end, value, base);
    return problem == std::errc{} && rest == end;
}

} // namespace

bool is_packet_table(std::string_view front) {
    return front.starts_with(title);
}

PacketColumns PacketTableReader::feed(std::span<const std::uint8_t> chunk) {
    std::string_view text{reinterpret_cast<const char *>(chunk.data()), chunk.size()};
    for (;;) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) {
            break;
        }
        if (pending_.empty()) {
            take_line(text.substr(0, end));
        } else {
            keep_rest(text.substr(0, end));
            take_line(pending_);
            pending_.clear();
        }
        text.remove_prefix(end + 1);
        ++line_;
    }
    keep_rest(text);
    return packets_.take();
}

void PacketTableReader::keep_rest(std::string_view rest) {
    check_length(pending_.size() + rest.size());
    pending_ += rest;
}

void PacketTableReader::check_length(std::size_t size) const {
    if (size > longest_line) {
        fail("longer than " + std::to_string(longest_line) + " bytes (not a packet table)");
    }
}

void PacketTableReader::take_line(std::string_view line) {
    check_length(line.size());
    if (line.ends_with('\r')) {
        line.remove_suffix(1);
    }
    if (line_ == 1) {
        take_first_line(line);
    } else if (!line.starts_with('#')) {
        take_packet(line);
    }
}

void PacketTableReader::take_first_line(std::string_view line) const {
    if (!is_packet_table(line)) {
        fail("not a packet table (its first line is \"# packet-sizes 1\")");
    }
    const std::string_view version = line.substr(title.size());
    if (version != supported_version) {
        fail("packet tables of another version than 1 are not supported");
    }
}

void PacketTableReader::take_packet(std::string_view line) {
    std::int64_t time_us = 0;
    std::uint32_t size = 0;
    if (!is_number(next_field(line), time_us) || time_us < 0 || time_us >= time_limit_us) {
        fail("the time (field 1) is not a whole number of microseconds from 0 to 2^62");
    }
    if (!is_number(next_field(line), size)) {
        fail("the IP length (field 2) is not a whole number from 0 to 4294967295");
    }
    for (int i = 0; i < plain_fields; ++i) {
        std::int64_t unused = 0;
        if (!is_number(next_field(line), unused)) {
            fail("field " + std::to_string(i + 3) + " is not a whole number");
        }
    }
    const bool is_protected = take_80211(line);
    ++packets_.counts.records;
    if (size == 0) {
        ++(is_protected ? packets_.counts.encrypted : packets_.counts.no_ip);
    } else {
        packets_.add(time_us, size);
    }
}

// The last field, if there is one: whether it tells of a protected frame.
bool PacketTableReader::take_80211(std::string_view line) const {
    std::uint64_t value = 0;
    if (line.empty()) {
        return false;
    }
    if (!is_number(next_field(line), value, 16) || !line.empty()) {
        fail("field 8 is not a hexadecimal number, or there are more than 8");
    }
    return (value & 0xf) == 1;
}

void PacketTableReader::finish() {
    if (pending_.empty() && line_ == 1) {
        fail("the file is empty");
    }
    if (!pending_.empty()) {
        packets_.end_early(
            text("the file ends inside this line (it was cut short; copy or make it again)"));
    }
    if (packets_.counts.packets == 0) {
        throw Error(packets_.counts.no_packets());
    }
}

std::string PacketTableReader::text(const std::string &what) const {
    return "line " + std::to_string(line_) + ": " + what;
}

void PacketTableReader::fail(const std::string &what) const {
    throw Error(text(what));
}

} // namespace heapfit
