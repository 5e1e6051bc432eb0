// SPDX-License-Identifier: Apache-2.0
// Lines of words in columns to nodes.
#include "heapfit/trace/node_table.hpp"

#include <algorithm>
#include <charconv>

#include "heapfit/trace/line.hpp"

namespace heapfit {

namespace {

constexpr std::size_t most_columns = 12; // with the call stack

// The words of a line behind what a logger puts before it, which ends with "]".
std::vector<std::string_view> columns_of(std::string_view line) {
    const std::size_t prefix = line.rfind(']');
    Words words(prefix == line.npos ? line : line.substr(prefix + 1));
    std::vector<std::string_view> found;
    while (!words.is_done() && found.size() < most_columns) {
        found.push_back(words.next());
    }
    return found;
}

std::optional<std::size_t> place_of(const std::vector<std::string_view> &words,
                                    std::string_view name) {
    const auto found = std::find(words.begin(), words.end(), name);
    if (found == words.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - words.begin());
}

std::optional<std::uint64_t> number_in(std::string_view word, int base) {
    std::uint64_t value = 0;
    const char *end = word.data() + word.size();
    const std::from_chars_result result = std::from_chars(word.data(), end, value, base);
    return result.ec == std::errc{} && result.ptr == end ? std::optional(value) : std::nullopt;
}

} // namespace

std::optional<NodeTable> NodeTable::begun_by(std::string_view line) {
    const std::vector<std::string_view> names = columns_of(line);
    const std::optional<std::size_t> size = place_of(names, "Size");
    const std::optional<std::size_t> address = place_of(names, "Address");
    if (!size || !address || *address < *size) {
        return std::nullopt;
    }
    NodeTable table;
    table.size_ = *size;
    table.address_ = *address;
    table.sequence_ = place_of(names, "Sequence");
    table.task_ = place_of(names, "PID");
    return table;
}

bool NodeTable::take(std::string_view line) {
    const std::vector<std::string_view> words = columns_of(line);
    if (words.size() <= std::max(address_, sequence_.value_or(0)) ||
        !words[address_].starts_with("0x")) {
        return false;
    }
    const auto address = number_in(words[address_].substr(2), 16);
    const auto size = number_in(words[size_], 10);
    const auto sequence =
        sequence_ ? number_in(words[*sequence_], 10) : std::optional<std::uint64_t>(0);
    if (!address || !size || !sequence) {
        return false;
    }
    Node node{*address, *size, *sequence, 0, {}};
    node.task = task_ ? number_in(words[*task_], 10).value_or(0) : 0;
    std::size_t caller = 0;
    const std::size_t last = std::max(address_, sequence_.value_or(0));
    for (std::size_t i = last + 1; i < words.size() && caller < node.callers.size(); i++) {
        const bool is_address = words[i].starts_with("0x");
        const auto value = is_address ? number_in(words[i].substr(2), 16) : std::nullopt;
        node.callers[caller] = static_cast<std::uint32_t>(value.value_or(0));
        caller += node.callers[caller] != 0;
    }
    nodes_.push_back(node);
    return true;
}

std::vector<Node> NodeTable::nodes() const {
    std::vector<Node> ordered = nodes_;
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const Node &a, const Node &b) { return a.sequence < b.sequence; });
    return ordered;
}

} // namespace heapfit
