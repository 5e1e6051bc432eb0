// SPDX-License-Identifier: Apache-2.0
// One slot after the other, over and over; a request's id is its slot.
#include <algorithm>

#include "heapfit/random.hpp"
#include "workload/laws.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t fewest_bits = 3;
constexpr std::uint64_t widths = 15; // 3 to 17 bits

class Sweep {
  public:
    Sweep(const SlotSweep &sweep, std::uint64_t seed)
        : events_left_(sweep.events), is_live_(sweep.slots), random_(seed) {}

    std::optional<Request> operator()() {
        if (events_left_ == 0) {
            return std::nullopt;
        }
        events_left_--;
        std::uint64_t slot = next_slot();
        while (random_.below(2) == 0) {
            slot = next_slot();
        }
        if (!is_live_[slot]) {
            is_live_[slot] = true;
            return Request{.op = Op::alloc, .id = slot, .size = size()};
        }
        if (random_.below(4) == 0) {
            return Request{.op = Op::resize, .id = slot, .size = size()};
        }
        is_live_[slot] = false;
        return Request{.op = Op::free, .id = slot};
    }

  private:
    std::uint64_t next_slot() {
        const std::uint64_t slot = slot_;
        slot_ = slot_ + 1 == is_live_.size() ? 0 : slot_ + 1;
        return slot;
    }

    Bytes size() {
        const std::uint64_t bits = fewest_bits + random_.below(widths);
        return std::max<Bytes>(random_.below(std::uint64_t{1} << bits), 1);
    }

    std::uint64_t events_left_;
    std::vector<bool> is_live_;
    Philox random_;
    std::uint64_t slot_ = 0;
};

} // namespace

WorkloadLaw slot_sweep(const SlotSweep &sweep, std::uint64_t seed) {
    return Sweep(sweep, seed);
}

} // namespace heapfit
