// SPDX-License-Identifier: Apache-2.0
// Programs that change: targets drawn anew for each phase, and sizes that fit no hole of the last.
#include "heapfit/random.hpp"
#include "workload/laws.hpp"

namespace heapfit {

namespace {

class Phases {
  public:
    Phases(const PhasedTargets &targets, std::uint64_t seed)
        : law_(targets), live_(targets.sizes.size()), targets_(targets.sizes.size()),
          random_(seed) {}

    std::optional<Request> operator()() {
        if (done_ == law_.events) {
            return std::nullopt;
        }
        if (done_ % law_.phase == 0) {
            for (std::uint64_t &target : targets_) {
                target = random_.below(law_.limit + 1);
            }
        }
        done_++;
        const std::uint64_t type = random_.below(law_.sizes.size());
        std::vector<std::uint64_t> &live = live_[type];
        if (grows(live.size(), targets_[type])) {
            live.push_back(born_++);
            return Request{.op = Op::alloc, .id = live.back(), .size = law_.sizes[type]};
        }
        return released(live, random_.below(live.size()));
    }

  private:
    bool grows(std::uint64_t count, std::uint64_t target) {
        if (count != target) {
            return count < target;
        }
        if (count == 0 || count == law_.limit) {
            return count == 0;
        }
        return random_.below(2) == 0;
    }

    static Request released(std::vector<std::uint64_t> &live, std::uint64_t victim) {
        const std::uint64_t id = live[victim];
        live[victim] = live.back();
        live.pop_back();
        return {.op = Op::free, .id = id};
    }

    PhasedTargets law_;
    std::vector<std::vector<std::uint64_t>> live_; // ids, by type
    std::vector<std::uint64_t> targets_;           // blocks, by type
    Philox random_;
    std::uint64_t done_ = 0;
    std::uint64_t born_ = 0;
};

// Ids: pair i has 2 i and 2 i + 1, the last ones follow.
class Shift {
  public:
    explicit Shift(const PhaseShift &shift) : law_(shift) {}

    std::optional<Request> operator()() {
        const std::uint64_t n = law_.pairs;
        const std::uint64_t step = step_++;
        if (step < 2 * n) {
            return allocation(step, step % 2 == 0 ? law_.small : law_.large);
        }
        if (step < 3 * n) { // all large ones
            return Request{.op = Op::free, .id = 2 * (step - 2 * n) + 1};
        }
        if (step < 4 * n) {
            return allocation(step - n, law_.last);
        }
        if (step < 5 * n) { // all small ones
            return Request{.op = Op::free, .id = 2 * (step - 4 * n)};
        }
        return step < 6 * n ? std::optional(Request{.op = Op::free, .id = step - 3 * n})
                            : std::nullopt;
    }

  private:
    static Request allocation(std::uint64_t id, Bytes size) {
        return {.op = Op::alloc, .id = id, .size = size};
    }

    PhaseShift law_;
    std::uint64_t step_ = 0;
};

} // namespace

WorkloadLaw phased_targets(const PhasedTargets &targets, std::uint64_t seed) {
    return Phases(targets, seed);
}

WorkloadLaw phase_shift(const PhaseShift &shift) {
    return Shift(shift);
}

} // namespace heapfit
