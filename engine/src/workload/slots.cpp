// SPDX-License-Identifier: Apache-2.0
// The slot walk as requests; a request's id is its slot.
#include "heapfit/workload/slot_walk.hpp"
#include "workload/laws.hpp"

namespace heapfit {

namespace {

class Walk {
  public:
    Walk(const BufferWalk &walk, std::uint64_t seed)
        : events_left_(walk.events), law_(walk.smallest, walk.largest), slots_(walk.slots),
          random_(seed) {}

    std::optional<Request> operator()() {
        if (events_left_ == 0) {
            return std::nullopt;
        }
        events_left_--;
        const SlotStep step = slots_.next(random_);
        if (step.was_occupied) {
            return Request{.op = Op::free, .id = step.slot};
        }
        return Request{.op = Op::alloc, .id = step.slot, .size = law_.draw(random_)};
    }

  private:
    std::uint64_t events_left_;
    SizeLaw law_;
    SlotWalk slots_;
    Philox random_;
};

} // namespace

WorkloadLaw buffer_walk(const BufferWalk &walk, std::uint64_t seed) {
    return Walk(walk, seed);
}

} // namespace heapfit
