// SPDX-License-Identifier: Apache-2.0
#include "heapfit/trace/lifetime.hpp"

#include <algorithm>
#include <numeric>

namespace heapfit {

namespace {

constexpr std::array<std::string_view, LifetimeLines::column_count> column_names = {
    "lower", "upper", "size", "alignment", "gaps", "id"};
constexpr std::size_t absent = SIZE_MAX;

// Of the columns that have several names.
std::string_view usual_name(std::string_view name) {
    return name == "begin" || name == "start"        ? "lower"
           : name == "end"                           ? "upper"
           : name == "buffer" || name == "buffer_id" ? "id"
                                                     : name;
}

} // namespace

void LifetimeLines::read_columns(std::string_view line, std::uint64_t number) {
    separator_ = separator_of(line);
    split_row(line, separator_, number, fields_);
    places_.fill(absent);
    for (std::size_t i = 0; i < fields_.size(); i++) {
        const std::string name = lowered(fields_[i]);
        const auto found = std::ranges::find(column_names, usual_name(name));
        if (found != column_names.end()) {
            std::size_t &place = places_[static_cast<std::size_t>(found - column_names.begin())];
            if (place != absent) {
                refuse_line(number, "column " + std::string(*found) + " is there twice");
            }
            place = i;
            last_ = name == "end" ? 1 : last_;
        } else if (name != "offset") {
            unknown_.add(fields_[i]);
        }
    }
    for (const Column column : {lower, upper, size}) {
        if (places_[column] == absent) {
            refuse_line(number, "no column " + std::string(column_names[column]));
        }
    }
    width_ = fields_.size();
}

std::string_view LifetimeLines::field(Column column) const {
    return places_[column] == absent ? std::string_view{} : fields_[places_[column]];
}

void LifetimeLines::keep(const Buffer &buffer) {
    if (buffer.lower >= buffer.upper) {
        refuse_line(buffer.line, "lower " + std::to_string(buffer.lower) + " is not below upper " +
                                     std::to_string(buffer.upper));
    }
    buffers_.push_back(buffer);
}

// Gaps stand in order of time.
void LifetimeLines::split_at_gaps(Buffer buffer) {
    const std::size_t before = buffers_.size();
    const Tick upper_end = buffer.upper;
    for (std::string_view rest = field(gaps); !rest.empty();) {
        const std::string_view gap = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), gap.size() + 1));
        const std::size_t dash = gap.find('-');
        if (gap.empty() || gap.find('@') != gap.npos) {
            part_gaps_ += !gap.empty();
            continue;
        }
        if (dash == gap.npos) {
            refuse_line(buffer.line, "gap " + quoted(gap) + " is no two times with - between");
        }
        const Tick from = to_number<Tick>(gap.substr(0, dash), buffer.line, "gap");
        const Tick to = to_number<Tick>(gap.substr(dash + 1), buffer.line, "gap") + last_;
        if (from < buffer.lower || to <= from || to > upper_end) {
            refuse_line(buffer.line, "gap " + quoted(gap) +
                                         " is not within its buffer, or overlaps the one before");
        }
        if (from > buffer.lower) {
            buffer.upper = from;
            keep(buffer);
        }
        buffer.lower = to;
    }
    buffer.upper = upper_end;
    if (buffer.lower < upper_end || buffers_.size() == before) {
        keep(buffer);
    }
    with_gaps_ += buffers_.size() > before + 1;
}

void LifetimeLines::take(std::string_view line, std::uint64_t number, TraceBuilder &) {
    if (width_ == 0) {
        read_columns(line, number);
        return;
    }
    split_row(line, separator_, number, fields_);
    if (fields_.size() != width_) {
        refuse_line(number, std::to_string(fields_.size()) + " fields where the header names " +
                                std::to_string(width_));
    }
    const std::string_view aligned = field(alignment);
    const auto boundary = aligned.empty() ? 0 : to_number<Bytes>(aligned, number, "alignment");
    const Buffer buffer{to_number<Tick>(field(lower), number, "lower"),
                        to_number<Tick>(field(upper), number, "upper") + last_,
                        to_number<Bytes>(field(size), number, "size"), boundary > 1 ? boundary : 0,
                        number};
    if (!field(id).empty()) {
        ids_ += field(id);
        id_ends_.push_back(ids_.size());
        id_lines_.push_back(number);
    }
    if (field(gaps).empty()) {
        keep(buffer);
    } else {
        split_at_gaps(buffer);
    }
}

void LifetimeLines::require_different_ids() const {
    const std::string_view texts = ids_;
    const auto text = [&](std::size_t i) {
        const std::size_t begin = i == 0 ? 0 : id_ends_[i - 1];
        return texts.substr(begin, id_ends_[i] - begin);
    };
    std::vector<std::size_t> order(id_ends_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, text);
    const auto again = std::ranges::adjacent_find(order, {}, text);
    if (again != order.end()) {
        refuse_line(id_lines_[again[1]], "id " + quoted(text(*again)) + " is that of line " +
                                             std::to_string(id_lines_[*again]) + ", too");
    }
}

void LifetimeLines::finish(TraceBuilder &builder) {
    if (width_ == 0) {
        throw Error("ends before the line that names the columns");
    }
    require_different_ids();
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
        const Buffer &buffer = buffers_[i];
        builder.add({.op = buffer.alignment == 0 ? Op::alloc : Op::aligned,
                     .id = i,
                     .size = buffer.size,
                     .alignment = buffer.alignment,
                     .time = buffer.lower},
                    buffer.line);
    }
    free_until(UINT64_MAX);
}

// What was passed over, one sentence each.
std::vector<std::string> LifetimeLines::losses() const {
    std::vector<std::string> told = unknown_.notes();
    if (part_gaps_ > 0) {
        told.push_back(counted(part_gaps_, "gap", "gaps") +
                       " of a part of a buffer passed over: the buffer is held whole.");
    }
    return told;
}

std::string LifetimeLines::passed_over() const {
    const std::vector<std::string> told = losses();
    return told.empty() ? "" : told.front();
}

std::vector<std::string> LifetimeLines::notes() const {
    std::vector<std::string> told = losses();
    if (with_gaps_ > 0) {
        told.push_back(counted(with_gaps_, "buffer with gaps", "buffers with gaps") +
                       " freed for their time and allocated anew after it.");
    }
    return told;
}

} // namespace heapfit
