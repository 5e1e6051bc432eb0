// SPDX-License-Identifier: Apache-2.0
// Small sizes by table, others by open addressing with linear probing.
#include "heapfit/profile/size_index.hpp"

#include <bit>

namespace heapfit {

namespace {

constexpr std::uint64_t golden =
    0x9e3779b97f4a7c15; // Fibonacci hashing: 2^64 over the golden ratio

// The next of 16 sizes an octave, at or above `size` (above 4 KiB, so that the step is at least 1).
constexpr Bytes coarse(Bytes size) {
    const Bytes step = std::bit_floor(size) / 16;
    return (size + step - 1) / step * step;
}

} // namespace

SizeIndex::SizeIndex() : slots_(1024, none) {
    small_.fill(none);
}

std::size_t SizeIndex::slot_of(Bytes size) const {
    const int bits = std::countr_zero(slots_.size());
    std::size_t slot = (size * golden) >> (64 - bits);
    while (slots_[slot] != none && sizes_[slots_[slot]] != size) {
        slot = (slot + 1) & (slots_.size() - 1);
    }
    return slot;
}

std::uint32_t SizeIndex::find_large(Bytes size) const {
    return slots_[slot_of(size)];
}

std::uint32_t SizeIndex::add_new(Bytes size) {
    if (size < small_.size()) {
        return small_[size] = append(size);
    }
    if (sizes_.size() >= exact_limit) {
        is_coarse_ = true;
        const std::uint32_t known = find_large(coarse(size));
        return known != none ? known : append(coarse(size));
    }
    return append(size);
}

std::uint32_t SizeIndex::append(Bytes size) {
    const auto number = static_cast<std::uint32_t>(sizes_.size());
    if (size >= small_.size()) {
        if (2 * sizes_.size() >= slots_.size()) {
            grow();
        }
        slots_[slot_of(size)] = number;
    }
    sizes_.push_back(size);
    return number;
}

void SizeIndex::grow() {
    slots_.assign(4 * slots_.size(), none);
    for (std::uint32_t number = 0; number < sizes_.size(); number++) {
        if (sizes_[number] >= small_.size()) {
            slots_[slot_of(sizes_[number])] = number;
        }
    }
}

} // namespace heapfit
