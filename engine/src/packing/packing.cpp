// SPDX-License-Identifier: Apache-2.0
#include "heapfit/packing/packing.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "heapfit/random.hpp"
#include "packing/branching.hpp"
#include "packing/placed_lifetimes.hpp"
#include "packing/placing_in_time.hpp"
#include "packing/sections.hpp"
#include "packing/zone_search.hpp"

namespace heapfit {

namespace {

using Order = std::vector<std::uint32_t>;

constexpr std::uint64_t told_every = 10'000'000; // pairs
constexpr std::size_t most_branched = 1000;      // lifetimes
constexpr std::uint64_t least_branched = 1000;   // placements below one ceiling
constexpr int blamed_orders = 10;
constexpr std::uint64_t most_changed_orders = 20'000;

class Packer {
  public:
    Packer(std::span<const Lifetime> lifetimes, const PackingEffort &effort,
           const std::function<bool(double)> &progress)
        : lifetimes_(lifetimes), effort_(effort), progress_(progress), placed_(lifetimes),
          offsets_(lifetimes.size()) {
        best_.floor = peak_of(lifetimes);
        best_.height = UINT64_MAX;
        if (lifetimes.size() <= most_branched) {
            sections_.emplace(lifetimes);
        }
    }

    Packing run() {
        for (const Fit fit : {Fit::first, Fit::best}) {
            offsets_ = place_in_time(lifetimes_, fit);
            keep_if_lower(height_of(offsets_));
        }
        raise_the_floor();
        search_in_zones();
        if (pairs_of_an_order() <= effort_.pairs - std::min(effort_.pairs, best_.pairs)) {
            try_fixed_orders();
            raise_the_blamed();
            change_at_random();
        }
        lower_the_ceiling();
        return std::move(best_);
    }

  private:
    // Places below the floor, the next one where that is impossible, with half of the placements.
    void raise_the_floor() {
        const std::uint64_t most = effort_.placements / 2;
        while (sections_ && !is_proven() && best_.placements < most &&
               branch(std::max(best_.floor, effort_.enough), most - best_.placements) ==
                   Below::impossible) {
        }
    }

    // Halves what lies between the highest undecided ceiling and the best height, with a quarter of
    // the placements left each; with the rest, tries for one byte less.
    void lower_the_ceiling() {
        Bytes low = std::max(best_.floor, effort_.enough);
        while (sections_ && !is_proven() && best_.placements < effort_.placements) {
            const std::uint64_t left = effort_.placements - best_.placements;
            const bool is_last = low >= best_.height - 1 || left < 4 * least_branched;
            const Bytes ceiling = is_last ? best_.height - 1 : low + (best_.height - 1 - low) / 2;
            const Below result = branch(ceiling, is_last ? left : left / 4);
            low = std::max(low, result == Below::undecided ? ceiling + 1 : best_.floor);
        }
    }

    Below branch(Bytes ceiling, std::uint64_t most) {
        const Branching found =
            place_below(*sections_, ceiling, {effort_.seed, most}, [&](std::uint64_t tried) {
                tell_progress(tried);
                return !best_.is_stopped;
            });
        best_.placements += found.placements;
        if (found.result == Below::placed) {
            offsets_ = found.offsets;
            keep_if_lower(height_of(offsets_));
        } else if (found.result == Below::impossible) {
            best_.floor = std::min(best_.height, found.next_ceiling);
        }
        return found.result;
    }

    // Half of the effort; all of it where an order takes more than the other half.
    void search_in_zones() {
        const bool has_orders = pairs_of_an_order() <= effort_.pairs / 2;
        const ZoneEffort effort{std::max(best_.floor, effort_.enough), effort_.seed,
                                has_orders ? effort_.pairs / 2 : effort_.pairs};
        if (is_done()) {
            return;
        }
        const ZonedPacking found = search_zones(lifetimes_, effort, [&](std::uint64_t steps) {
            count_pairs(steps);
            return !best_.is_stopped;
        });
        best_.zoned = found.placements;
        if (!found.offsets.empty()) {
            offsets_ = found.offsets;
            keep_if_lower(found.height);
        }
    }

    Bytes height_of(std::span<const Bytes> offsets) const {
        Bytes height = 0;
        for (std::size_t i = 0; i < offsets.size(); i++) {
            height = std::max(height, offsets[i] + lifetimes_[i].size);
        }
        return height;
    }

    void keep_if_lower(Bytes height) {
        if (height < best_.height) {
            best_.height = height;
            best_.offsets = offsets_;
        }
    }

    [[nodiscard]] bool is_done() const { return is_proven() || best_.pairs >= effort_.pairs; }

    // Nothing is left to be found, or it may not be looked for.
    [[nodiscard]] bool is_proven() const {
        return best_.is_stopped || best_.height <= std::max(best_.floor, effort_.enough);
    }

    void count_pairs(std::uint64_t count) {
        const std::uint64_t before = best_.pairs / told_every;
        best_.pairs += count;
        if (best_.pairs / told_every != before) {
            tell_progress(0);
        }
    }

    // `branched`: placements tried and not counted yet.
    void tell_progress(std::uint64_t branched) {
        const auto share = [](std::uint64_t done, std::uint64_t most) {
            return most == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(most);
        };
        double done = share(best_.pairs, effort_.pairs);
        if (sections_) {
            done = (done + share(best_.placements + branched, effort_.placements)) / 2;
        }
        best_.is_stopped = !progress_(std::min(1.0, done));
    }

    // The lowest place that is free for a whole life, among what is placed.
    Bytes lowest_place(const Lifetime &one) {
        taken_.clear();
        placed_.overlapping(one.from, one.until, [&](std::size_t other) {
            taken_.emplace_back(offsets_[other], offsets_[other] + lifetimes_[other].size);
        });
        count_pairs(taken_.size() + 1);
        std::ranges::sort(taken_);
        Bytes place = 0;
        for (const auto &[begin, end] : taken_) {
            if (begin >= place + one.size) {
                break;
            }
            place = std::max(place, end);
        }
        return place;
    }

    // Places all in this order; no height where that cannot be `most` or lower, or at the end of
    // the effort.
    std::optional<Bytes> place(const Order &order, Bytes most) {
        placed_.clear();
        Bytes height = 0;
        for (const std::uint32_t i : order) {
            if (best_.is_stopped || best_.pairs >= effort_.pairs) {
                return std::nullopt;
            }
            offsets_[i] = lowest_place(lifetimes_[i]);
            height = std::max(height, offsets_[i] + lifetimes_[i].size);
            if (height > most) {
                return std::nullopt;
            }
            placed_.place(i);
        }
        best_.orders++;
        keep_if_lower(height);
        return height;
    }

    // The lifetimes by descending key; equal ones as they begin.
    template <typename Key> Order order_by(Key key) const {
        Order order(lifetimes_.size());
        std::iota(order.begin(), order.end(), 0U);
        std::ranges::stable_sort(order, std::ranges::greater{}, key);
        return order;
    }

    // What one order takes: it looks once at each pair that overlaps.
    [[nodiscard]] std::uint64_t pairs_of_an_order() const {
        std::vector<std::uint64_t> ends;
        for (const Lifetime &one : lifetimes_) {
            ends.push_back(one.until);
        }
        std::ranges::sort(ends);
        std::uint64_t pairs = lifetimes_.size();
        std::size_t ended = 0;
        for (std::size_t i = 0; i < lifetimes_.size(); i++) {
            while (ends[ended] <= lifetimes_[i].from) {
                ended++;
            }
            pairs += i - ended;
        }
        return pairs;
    }

    // Places in each fixed order that there is work left for. The first one is from the bottom up
    // as placed in time, so nothing comes to lie higher.
    void try_fixed_orders() {
        using Key = std::pair<double, double>;
        const auto size = [&](std::uint32_t i) { return static_cast<double>(lifetimes_[i].size); };
        const auto life = [&](std::uint32_t i) {
            return static_cast<double>(lifetimes_[i].until - lifetimes_[i].from);
        };
        try_order(order_by([&](std::uint32_t i) { return ~best_.offsets[i]; }));
        try_order(order_by([&](std::uint32_t i) { return Key{size(i) * life(i), size(i)}; }));
        try_order(order_by([&](std::uint32_t i) { return Key{size(i), life(i)}; }));
        try_order(order_by([&](std::uint32_t i) { return Key{life(i), size(i)}; }));
    }

    void try_order(Order order) {
        const std::optional<Bytes> height = is_done() ? std::nullopt : place(order, height_);
        if (height && *height < height_) {
            take_over(std::move(order), *height);
        }
    }

    // Squeaky wheel: what lies above the peak is placed first next time.
    void raise_the_blamed() {
        Order order = order_;
        for (int i = 0; i < blamed_orders && !order_.empty() && !is_done(); i++) {
            std::ranges::stable_partition(order, [&](std::uint32_t one) {
                return offsets_[one] + lifetimes_[one].size > best_.floor;
            });
            const std::optional<Bytes> height = place(order, UINT64_MAX);
            if (height && *height < height_) {
                take_over(order, *height);
            }
        }
    }

    // From here on the local search changes this order, which was placed last.
    void take_over(Order order, Bytes height) {
        order_ = std::move(order);
        height_ = height;
        top_.clear();
        for (std::size_t turn = 0; turn < order_.size(); turn++) {
            if (offsets_[order_[turn]] + lifetimes_[order_[turn]].size == height) {
                top_.push_back(turn);
            }
        }
    }

    // Moves lifetimes that reach the top, or any, to a random earlier turn, and keeps what is not
    // higher.
    void change_at_random() {
        Philox random(effort_.seed);
        for (std::uint64_t i = 0; i < most_changed_orders && !order_.empty() && !is_done(); i++) {
            Order changed = order_;
            for (std::uint64_t moves = 1 + random.below(3); moves > 0; moves--) {
                move_forward(changed, random);
            }
            const std::optional<Bytes> height = place(changed, height_);
            if (height) {
                take_over(std::move(changed), *height);
            }
        }
    }

    void move_forward(Order &order, Philox &random) const {
        const bool at_top = !top_.empty() && random.below(4) != 0;
        const std::size_t turn =
            at_top ? top_[random.below(top_.size())] : random.below(order.size());
        const auto from = order.begin() + static_cast<std::ptrdiff_t>(random.below(turn + 1));
        const auto moved = order.begin() + static_cast<std::ptrdiff_t>(turn);
        std::rotate(from, moved, moved + 1);
    }

    std::span<const Lifetime> lifetimes_;
    PackingEffort effort_;
    const std::function<bool(double)> &progress_;
    PlacedLifetimes placed_;
    std::optional<Sections> sections_; // of few enough lifetimes
    std::vector<Bytes> offsets_;
    std::vector<std::pair<Bytes, Bytes>> taken_;
    Order order_;                  // the best so far of steps 3 and 4; empty: none yet
    Bytes height_ = UINT64_MAX;    // of that order
    std::vector<std::size_t> top_; // turns in it of what reaches the top
    Packing best_;
};

} // namespace

Packing pack(std::span<const Lifetime> lifetimes, const PackingEffort &effort,
             const std::function<bool(double)> &progress) {
    if (lifetimes.empty()) {
        return {};
    }
    return Packer(lifetimes, effort, progress).run();
}

} // namespace heapfit
