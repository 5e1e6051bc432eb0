// SPDX-License-Identifier: Apache-2.0
#include "heapfit/trace/wire_chunk.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "heapfit/error.hpp"
#include "wire.h"

namespace heapfit {

namespace {

// Reads fields until the bytes end; from then on all are 0 and `is_short` is true.
class Fields {
  public:
    explicit Fields(std::string_view bytes) : rest_(bytes) {}

    [[nodiscard]] bool is_short() const { return is_short_; }
    [[nodiscard]] bool is_sound() const { return is_sound_; }
    [[nodiscard]] std::size_t left() const { return rest_.size(); }

    std::uint8_t byte() {
        if (rest_.empty()) {
            is_short_ = true;
            return 0;
        }
        const auto value = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return value;
    }

    // Seven bits a byte, the lowest first.
    std::uint64_t number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint64_t part = byte();
            is_sound_ = is_sound_ && (shift < 63 || part <= 1);
            value |= (part & 0x7f) << shift;
            if (part < 0x80) {
                return value;
            }
        }
        is_sound_ = false;
        return value;
    }

    // What lane.c's put_signed wrote, as a difference to be added.
    std::uint64_t difference() {
        const std::uint64_t value = number();
        return (value >> 1) ^ (0 - (value & 1));
    }

    std::uint32_t word() {
        std::uint32_t value = 0;
        for (unsigned shift = 0; shift < 32; shift += 8) {
            value |= std::uint32_t{byte()} << shift;
        }
        return value;
    }

  private:
    std::string_view rest_;
    bool is_short_ = false;
    bool is_sound_ = true; // no number above 2^64
};

class Chunk {
  public:
    Chunk(std::string_view bytes, std::uint64_t place)
        : fields_(bytes), size_(bytes.size()), place_(place) {
        last_.thread = fields_.word();
    }

    // The next record, or false where there is none.
    bool next(WireRecord &record) {
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
                record = last_;
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] bool is_cut() const { return is_cut_; }
    [[nodiscard]] std::size_t left() const { return fields_.left(); }

  private:
    // A chunk that nobody began is zero, but for what may follow in damaged ones.
    [[nodiscard]] bool is_empty() const { return last_.thread == 0 || fields_.left() == 0; }

    void read_fields(std::uint8_t tag) {
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

    [[nodiscard]] bool has_callers(std::uint8_t tag) const {
        return (tag & HFIT_WIRE_HAS_CALLERS) != 0 && (tag & HFIT_WIRE_IS_NEW_SITE) != 0 &&
               last_.op != HFIT_WIRE_RESIZE_END;
    }

    // Only a new site has callers, one at least.
    [[nodiscard]] bool are_callers_sound(std::uint8_t tag) const {
        return (tag & HFIT_WIRE_HAS_CALLERS) == 0 ||
               (last_.op != HFIT_WIRE_THREAD && has_callers(tag) && last_.site != 0 &&
                last_.callers[0] != 0);
    }

    std::uint32_t site(std::uint8_t tag) {
        if ((tag & HFIT_WIRE_IS_NEW_SITE) == 0) {
            return sites_[fields_.byte()];
        }
        const std::uint32_t value = fields_.word();
        sites_[value % HFIT_WIRE_SITES] = value;
        return value;
    }

    Fields fields_;
    std::uint64_t size_;
    std::uint64_t place_;
    WireRecord last_;
    std::array<std::uint32_t, HFIT_WIRE_SITES> sites_{};
    bool is_cut_ = false;
};

bool is_later(const WireRecord &a, const WireRecord &b) {
    return a.order > b.order;
}

} // namespace

bool read_wire_chunk(std::string_view bytes, std::uint64_t place,
                     const std::function<void(const WireRecord &)> &take) {
    if (bytes.size() < HFIT_WIRE_CHUNK_HEADER) {
        return bytes.empty();
    }
    Chunk chunk(bytes, place);
    WireRecord record;
    while (chunk.next(record)) {
        take(record);
    }
    return !chunk.is_cut();
}

std::uint64_t follow_wire_chunk(std::string_view bytes, std::uint64_t place, std::uint64_t known,
                                bool &is_full,
                                const std::function<void(const WireRecord &)> &take) {
    Chunk chunk(bytes, place);
    WireRecord record;
    std::uint64_t count = 0;
    while (chunk.next(record)) {
        if (count++ >= known) {
            take(record);
        }
    }
    is_full = !chunk.is_cut() && chunk.left() < HFIT_WIRE_LONGEST;
    return count;
}

void WireOrder::pass(const WireRecord &record,
                     const std::function<void(const WireRecord &)> &take) {
    if (record.order < next_) {
        throw Error("record " + std::to_string(record.order) +
                    ": is there twice (the file is damaged)");
    }
    missing_ += record.order - next_;
    next_ = record.order + 1;
    take(record);
}

void WireOrder::pass_least(const std::function<void(const WireRecord &)> &take) {
    std::ranges::pop_heap(held_, is_later);
    const WireRecord record = held_.back();
    held_.pop_back();
    pass(record, take);
}

void WireOrder::add(const WireRecord &record, const std::function<void(const WireRecord &)> &take) {
    if (record.order <= next_) {
        pass(record, take);
    } else {
        held_.push_back(record);
        std::ranges::push_heap(held_, is_later);
    }
    while (!held_.empty() && (held_.front().order <= next_ || held_.size() > most_held)) {
        pass_least(take);
    }
}

void WireOrder::finish(const std::function<void(const WireRecord &)> &take) {
    while (!held_.empty()) {
        pass_least(take);
    }
}

} // namespace heapfit
