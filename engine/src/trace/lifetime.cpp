// SPDX-License-Identifier: Apache-2.0
#include "heapfit/trace/lifetime.hpp"

#include <algorithm>
#include <numeric>

namespace heapfit {

namespace {

constexpr std::array<std::string_view, LifetimeLines::column_count> column_names = {
    "lower", "upper", "size"};

void split(std::string_view line, std::vector<std::string_view> &fields) {
    fields.clear();
    while (true) {
        const std::size_t comma = line.find(',');
        fields.push_back(line.substr(0, comma));
        if (comma == line.npos) {
            return;
        }
        line.remove_prefix(comma + 1);
    }
}

} // namespace

void LifetimeLines::read_columns(std::string_view line, std::uint64_t number) {
    split(line, fields_);
    for (std::size_t column = 0; column < column_count; column++) {
        const auto found = std::ranges::find(fields_, column_names[column]);
        if (found == fields_.end()) {
            refuse_line(number, "no column " + std::string(column_names[column]));
        }
        places_[column] = static_cast<std::size_t>(found - fields_.begin());
    }
    width_ = fields_.size();
}

void LifetimeLines::take(std::string_view line, std::uint64_t number, TraceBuilder &) {
    if (width_ == 0) {
        read_columns(line, number);
        return;
    }
    split(line, fields_);
    if (fields_.size() != width_) {
        refuse_line(number, std::to_string(fields_.size()) + " fields where the header names " +
                                std::to_string(width_));
    }
    Buffer buffer{to_number<Tick>(fields_[places_[lower]], number, "lower"),
                  to_number<Tick>(fields_[places_[upper]], number, "upper"),
                  to_number<Bytes>(fields_[places_[size]], number, "size"), number};
    if (buffer.lower >= buffer.upper) {
        refuse_line(number, "lower " + std::to_string(buffer.lower) + " is not below upper " +
                                std::to_string(buffer.upper));
    }
    buffers_.push_back(buffer);
}

void LifetimeLines::finish(TraceBuilder &builder) {
    if (width_ == 0) {
        throw Error("ends before the line that names the columns");
    }
    std::vector<std::size_t> ends(buffers_.size());
    std::iota(ends.begin(), ends.end(), std::size_t{0});
    std::vector<std::size_t> starts = ends;
    std::ranges::stable_sort(starts, {}, [&](std::size_t i) { return buffers_[i].lower; });
    std::ranges::stable_sort(ends, {}, [&](std::size_t i) { return buffers_[i].upper; });
    std::size_t ended = 0;
    const auto free_until = [&](Tick time) {
        for (; ended < ends.size() && buffers_[ends[ended]].upper <= time; ended++) {
            const Buffer &buffer = buffers_[ends[ended]];
            builder.add({.op = Op::free, .id = ends[ended], .time = buffer.upper}, buffer.line);
        }
    };
    for (const std::size_t i : starts) {
        free_until(buffers_[i].lower);
        builder.add({.op = Op::alloc, .id = i, .size = buffers_[i].size, .time = buffers_[i].lower},
                    buffers_[i].line);
    }
    free_until(UINT64_MAX);
}

} // namespace heapfit
