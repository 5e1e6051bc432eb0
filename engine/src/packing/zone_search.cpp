// SPDX-License-Identifier: Apache-2.0
#include "packing/zone_search.hpp"

#include <algorithm>
#include <array>

#include "heapfit/random.hpp"
#include "packing/zoned_placing.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t passes_of_greedy = 8; // what greedy slots cost, in placements of a zone

class Search {
  public:
    Search(std::span<const Lifetime> lifetimes, const ZoneEffort &effort,
           const std::function<bool(std::uint64_t)> &spent)
        : effort_(effort), spent_(spent), random_(effort.seed, 1), placing_(lifetimes),
          offsets_(lifetimes.size()), left_(effort.steps),
          greedy_steps_(lifetimes.size() * placing_.sizes().size() / passes_of_greedy) {}

    ZonedPacking run() {
        best_.height = UINT64_MAX;
        attempt({std::vector<std::uint64_t>(placing_.sizes().size()), {}, effort_.peak});
        if (!is_over() && spend(greedy_steps_)) {
            attempt({placing_.greedy_slots(effort_.peak), {}, effort_.peak});
        }
        while (!is_over()) {
            attempt(changed());
        }
        return std::move(best_);
    }

  private:
    [[nodiscard]] bool is_over() const {
        return is_stopped_ || left_ == 0 || best_.height <= effort_.peak;
    }

    bool spend(std::uint64_t steps) {
        left_ -= std::min(left_, steps);
        is_stopped_ = !spent_(steps) || is_stopped_;
        return !is_stopped_;
    }

    // Places, and goes on from this plan if it is no higher than the best.
    void attempt(ZonePlan plan) {
        std::uint64_t steps = 0;
        const Bytes height = placing_.place(plan, best_.height, offsets_, steps);
        best_.placements++;
        spend(steps);
        if (height < best_.height) {
            best_.height = height;
            best_.offsets = offsets_;
        }
        if (height == best_.height) {
            plan_ = std::move(plan);
        }
    }

    ZonePlan changed() {
        ZonePlan plan = plan_;
        if (random_.below(4) == 0 || plan.slots.empty()) {
            change_weights(plan.weights);
        } else {
            for (std::uint64_t changes = 1 + random_.below(3); changes > 0; changes--) {
                change_slots(plan.slots[random_.below(plan.slots.size())]);
            }
        }
        const Bytes above = best_.height - effort_.peak;
        plan.ceiling = effort_.peak + (random_.below(3) == 0 ? random_.below(above) : 0);
        return plan;
    }

    // By little more often than by much.
    void change_slots(std::uint64_t &slots) {
        const std::uint64_t most = 1 + random_.below(4 + slots);
        const std::uint64_t by = 1 + random_.below(1 + random_.below(most));
        if (random_.below(16) == 0) {
            slots = 0;
        } else if (random_.below(2) == 0) {
            slots += by;
        } else {
            slots -= std::min(slots, by);
        }
    }

    // One of them, or now and then all.
    void change_weights(HoleWeights &weights) {
        const std::uint64_t chosen = random_.below(6);
        for (std::uint64_t weight = 0; weight < 4; weight++) {
            if (chosen >= 4 || chosen == weight) {
                draw_weight(weights, weight);
            }
        }
    }

    void draw_weight(HoleWeights &weights, std::uint64_t weight) {
        constexpr std::array<double, 8> values = {0, 0.125, 0.25, 0.5, 1, 2, 4, 8};
        const double drawn = values[random_.below(values.size())];
        switch (weight) {
        case 0:
            weights.left = drawn;
            break;
        case 1:
            weights.ends = drawn;
            break;
        case 2:
            weights.place = drawn;
            break;
        default:
            weights.top = drawn == 8 ? 1e6 : 8 * drawn;
            break;
        }
    }

    ZoneEffort effort_;
    const std::function<bool(std::uint64_t)> &spent_;
    Philox random_;
    ZonedPlacing placing_;
    std::vector<Bytes> offsets_;
    std::uint64_t left_; // steps
    std::uint64_t greedy_steps_;
    ZonePlan plan_;
    ZonedPacking best_;
    bool is_stopped_ = false;
};

} // namespace

ZonedPacking search_zones(std::span<const Lifetime> lifetimes, const ZoneEffort &effort,
                          const std::function<bool(std::uint64_t)> &spent) {
    return Search(lifetimes, effort, spent).run();
}

} // namespace heapfit
