// SPDX-License-Identifier: Apache-2.0
// Types are walks between 0 and the limit; a type's live blocks are listed in any order.
#include "heapfit/random.hpp"
#include "workload/laws.hpp"

namespace heapfit {

namespace {

class Walk {
  public:
    Walk(const CappedWalk &walk, std::uint64_t seed)
        : walk_(walk), live_(walk.sizes.size()), random_(seed) {}

    std::optional<Request> operator()() {
        if (done_ == walk_.events) {
            return std::nullopt;
        }
        done_++;
        const std::uint64_t type = random_.below(walk_.sizes.size());
        std::vector<std::uint64_t> &live = live_[type];
        if (live.empty() || (live.size() < walk_.limit && random_.below(2) == 0)) {
            live.push_back(born_++);
            return Request{.op = Op::alloc, .id = live.back(), .size = walk_.sizes[type]};
        }
        return released(live, random_.below(live.size()));
    }

  private:
    static Request released(std::vector<std::uint64_t> &live, std::uint64_t victim) {
        const std::uint64_t id = live[victim];
        live[victim] = live.back();
        live.pop_back();
        return {.op = Op::free, .id = id};
    }

    CappedWalk walk_;
    std::vector<std::vector<std::uint64_t>> live_; // ids, by type
    Philox random_;
    std::uint64_t done_ = 0;
    std::uint64_t born_ = 0;
};

} // namespace

WorkloadLaw capped_walk(const CappedWalk &walk, std::uint64_t seed) {
    return Walk(walk, seed);
}

} // namespace heapfit
