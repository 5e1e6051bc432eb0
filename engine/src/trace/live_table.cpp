// SPDX-License-Identifier: Apache-2.0
// Open addressing by a keyed multiplicative hash; at most three quarters of the slots are in use.
#include "heapfit/trace/live_table.hpp"

#include <algorithm>
#include <iterator>
#include <random>

namespace heapfit {

namespace {

constexpr std::size_t first_capacity = 1024;

// Drawn once a process. It decides which slot an id lands in, never what is found: no output
// depends on it.
std::uint64_t process_key() {
    static const std::uint64_t key = [] {
        std::random_device device;
        return (std::uint64_t{device()} << 32) | device();
    }();
    return key;
}

} // namespace

LiveTable::LiveTable() : slots_(first_capacity), mask_(first_capacity - 1), key_(process_key()) {}

LiveTable::Slot *LiveTable::find(std::uint64_t id) {
    for (std::size_t i = home(id); slots_[i].is_used; i = next(i)) {
        if (slots_[i].id == id) {
            return &slots_[i];
        }
    }
    return nullptr;
}

bool LiveTable::insert(std::uint64_t id, Bytes size, ObjectId object) {
    if (size_ >= slots_.size() / 4 * 3) {
        grow();
    }
    std::size_t i = home(id);
    for (; slots_[i].is_used; i = next(i)) {
        if (slots_[i].id == id) {
            return false;
        }
    }
    slots_[i] = Slot{id, size, object, true};
    size_++;
    return true;
}

void LiveTable::erase(Slot *slot) {
    auto hole = static_cast<std::size_t>(slot - slots_.data());
    for (std::size_t i = next(hole); slots_[i].is_used; i = next(i)) {
        const std::size_t travelled = (i - home(slots_[i].id)) & mask_;
        if (travelled >= ((i - hole) & mask_)) { // its home lies at or before the hole
            slots_[hole] = slots_[i];
            hole = i;
        }
    }
    slots_[hole].is_used = false;
    size_--;
}

std::vector<LiveTable::Slot> LiveTable::used() const {
    std::vector<Slot> found;
    found.reserve(size_);
    std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(found),
                 [](const Slot &slot) { return slot.is_used; });
    return found;
}

void LiveTable::grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot &slot : old) {
        if (!slot.is_used) {
            continue;
        }
        std::size_t i = home(slot.id);
        while (slots_[i].is_used) {
            i = next(i);
        }
        slots_[i] = slot;
    }
}

} // namespace heapfit
