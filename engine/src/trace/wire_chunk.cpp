// SPDX-License-Identifier: Apache-2.0
#include "heapfit/trace/wire_chunk.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"
#include "wire.h"

namespace heapfit {

namespace {

bool is_later(const WireRecord &a, const WireRecord &b) {
    return a.order > b.order;
}

} // namespace

std::uint8_t WireFields::byte() {
    if (next_ == end_) {
        is_short_ = true;
        return 0;
    }
    return static_cast<std::uint8_t>(*next_++);
}

std::uint64_t WireFields::number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        const std::uint64_t part = byte();
        value |= (part & 0x7f) << shift;
        if (part < 0x80) {
            return value;
        }
    }
    const std::uint64_t last = byte();
    is_sound_ = is_sound_ && last <= 1;
    return value | last << 63;
}

std::uint64_t WireFields::difference() {
    const std::uint64_t value = number();
    return (value >> 1) ^ (0 - (value & 1));
}

std::uint32_t WireFields::word() {
    std::uint32_t value = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        value |= std::uint32_t{byte()} << shift;
    }
    return value;
}

WireChunk::WireChunk(std::string_view bytes, std::uint64_t place)
    : fields_(bytes), size_(bytes.size()), place_(place) {
    last_.thread = fields_.word();
    is_cut_ = fields_.is_short() && !bytes.empty();
}

std::size_t WireChunk::read(std::span<WireRecord> records) {
    std::size_t count = 0;
    while (count < records.size() && !has_ended_) {
        has_ended_ = !read_record();
        if (!has_ended_) {
            records[count++] = last_;
        }
    }
    return count;
}

// Reads the next one into last_; false where there is none.
bool WireChunk::read_record() {
    while (!is_empty()) {
        const std::uint64_t begin = size_ - fields_.left();
        const std::uint8_t tag = fields_.byte();
        if (tag == 0) {
            return false;
        }
        last_.op = tag & HFIT_WIRE_OP;
        if (last_.op != 0) {
            read_fields(tag);
        }
        if (fields_.is_short()) {
            is_cut_ = true;
            return false;
        }
        if (!fields_.is_sound() || last_.op == 0 || !are_callers_sound(tag)) {
            throw Error("byte " + std::to_string(place_ + begin) +
                        ": is no record (the file is damaged)");
        }
        if (last_.op != HFIT_WIRE_THREAD) {
            return true;
        }
    }
    return false;
}

// The tag that is still 0 was read, where there is one.
bool WireChunk::is_full() const {
    return !is_cut_ && fields_.left() + 1 < HFIT_WIRE_LONGEST;
}

// A chunk that nobody began is zero, but for what may follow in damaged ones.
bool WireChunk::is_empty() const {
    return last_.thread == 0 || fields_.left() == 0;
}

void WireChunk::read_fields(std::uint8_t tag) {
    if (last_.op == HFIT_WIRE_THREAD) {
        last_.thread = static_cast<std::uint32_t>(fields_.number());
        return;
    }
    last_.order += (tag & HFIT_WIRE_HAS_ORDER) != 0 ? fields_.number() : 1;
    last_.time += (tag & HFIT_WIRE_HAS_TIME) != 0 ? fields_.number() : 0;
    const std::uint64_t unit = (tag & HFIT_WIRE_IS_ODD) != 0 ? 1 : HFIT_WIRE_GRANULE;
    last_.address = (last_.address / unit + fields_.difference()) * unit;
    const bool has_size = last_.op != HFIT_WIRE_RESIZE_END && last_.op != HFIT_WIRE_FREE;
    last_.size = has_size ? fields_.number() : 0;
    last_.alignment_log2 = last_.op == HFIT_WIRE_ALIGNED ? fields_.byte() : 0;
    last_.site = last_.op == HFIT_WIRE_RESIZE_END ? 0 : site(tag);
    last_.callers = {};
    if (has_callers(tag)) {
        std::ranges::generate(last_.callers, [this] { return fields_.word(); });
    }
}

bool WireChunk::has_callers(std::uint8_t tag) const {
    return (tag & HFIT_WIRE_HAS_CALLERS) != 0 && (tag & HFIT_WIRE_IS_NEW_SITE) != 0 &&
           last_.op != HFIT_WIRE_RESIZE_END;
}

// Only a new site has callers, one at least.
bool WireChunk::are_callers_sound(std::uint8_t tag) const {
    return (tag & HFIT_WIRE_HAS_CALLERS) == 0 ||
           (last_.op != HFIT_WIRE_THREAD && has_callers(tag) && last_.site != 0 &&
            last_.callers[0] != 0);
}

std::uint32_t WireChunk::site(std::uint8_t tag) {
    if ((tag & HFIT_WIRE_IS_NEW_SITE) == 0) {
        return sites_[fields_.byte()];
    }
    const std::uint32_t value = fields_.word();
    sites_[value % HFIT_WIRE_SITES] = value;
    return value;
}

void WireOrder::pass(std::uint64_t order) {
    if (order < next_) {
        throw Error("record " + std::to_string(order) + ": is there twice (the file is damaged)");
    }
    missing_ += order - next_;
    next_ = order + 1;
}

void WireOrder::hold(const WireRecord &record) {
    held_.push_back(record);
    std::ranges::push_heap(held_, is_later);
}

const WireRecord *WireOrder::release_least(bool is_ended) {
    if (!is_ended && held_.front().order > next_ && held_.size() <= most_held) {
        return nullptr;
    }
    std::ranges::pop_heap(held_, is_later);
    released_ = held_.back();
    held_.pop_back();
    pass(released_.order);
    return &released_;
}

} // namespace heapfit
