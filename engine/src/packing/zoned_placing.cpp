// SPDX-License-Identifier: Apache-2.0
#include "packing/zoned_placing.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace heapfit {

namespace {

constexpr std::size_t most_zones = 64;
constexpr int most_looked_at = 32; // holes for one lifetime, the smallest that fit
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
constexpr Bytes endless = Bytes{1} << 60;

// log2(value + 1), a straight line between powers of two: the same on every machine.
double logarithm(std::uint64_t value) {
    const std::uint64_t more = value + 1;
    const int whole = static_cast<int>(std::bit_width(more)) - 1;
    const std::uint64_t power = std::uint64_t{1} << whole;
    return whole + static_cast<double>(more - power) / static_cast<double>(power);
}

// Blocks and holes in order of their place; the topmost hole has no end.
class Tiles {
  public:
    Tiles() { tiles_.push_back({0, endless, 0, none, none}); }

    // Takes `size` bytes for a block that ends at `until`; returns its tile.
    std::uint32_t take(Bytes size, std::uint64_t until, const ZonePlan &plan, Bytes ceiling) {
        const Choice choice = choose(size, until, plan.weights, ceiling);
        const std::uint32_t hole = choice.hole;
        forget(hole);
        if (tiles_[hole].size == size) {
            tiles_[hole].until = until;
            return hole;
        }
        const std::uint32_t block = choice.at_end ? after(hole, size) : before(hole, size);
        tiles_[block].until = until;
        remember(hole);
        return block;
    }

    void give(std::uint32_t tile) {
        tiles_[tile].until = 0;
        const std::uint32_t next = tiles_[tile].next;
        if (next != none && tiles_[next].until == 0) {
            forget(next);
            join(tile, next);
        }
        const std::uint32_t last = tiles_[tile].last;
        if (last != none && tiles_[last].until == 0) {
            forget(last);
            join(last, tile);
            tile = last;
        }
        remember(tile);
    }

    [[nodiscard]] Bytes begin(std::uint32_t tile) const { return tiles_[tile].begin; }
    [[nodiscard]] std::uint64_t looked_at() const { return looked_at_; }

  private:
    struct Tile {
        Bytes begin;
        Bytes size;
        std::uint64_t until; // 0: a hole
        std::uint32_t last;
        std::uint32_t next;
    };

    struct Choice {
        std::uint32_t hole;
        bool at_end;
        double cost;
    };

    [[nodiscard]] double apart(std::uint32_t neighbour, std::uint64_t until) const {
        if (neighbour == none) {
            return 0;
        }
        const std::uint64_t other = tiles_[neighbour].until;
        return logarithm(other > until ? other - until : until - other);
    }

    // The cost of a hole with so many bytes left over.
    [[nodiscard]] Choice weigh(std::uint32_t hole, Bytes left, std::uint64_t until,
                               const HoleWeights &weights, Bytes ceiling) const {
        const double before = apart(tiles_[hole].last, until);
        const double behind = hole == top_ ? endless : apart(tiles_[hole].next, until);
        const bool at_end = left > 0 && behind < before;
        const double place =
            16 * static_cast<double>(tiles_[hole].begin) / static_cast<double>(ceiling + 1);
        return {hole, at_end,
                (left > 0 ? weights.left * (4 + logarithm(left)) : 0) +
                    weights.ends * std::min(before, behind) + weights.place * place};
    }

    Choice choose(Bytes size, std::uint64_t until, const HoleWeights &weights, Bytes ceiling) {
        const Bytes top = tiles_[top_].begin;
        Choice best{top_, false, std::numeric_limits<double>::max()};
        if (top + size <= ceiling) {
            best = weigh(top_, ceiling - top - size, until, weights, ceiling);
            best.at_end = false;
            best.cost += weights.top;
        }
        int looked_at = 0;
        for (auto hole = by_size_.lower_bound({size, 0, 0});
             hole != by_size_.end() && looked_at < most_looked_at; ++hole, ++looked_at) {
            const auto &[bytes, begin, tile] = *hole;
            const Choice one = weigh(tile, bytes - size, until, weights, ceiling);
            best = one.cost < best.cost ? one : best;
        }
        looked_at_ += static_cast<std::uint64_t>(looked_at) + 1;
        return best;
    }

    void remember(std::uint32_t hole) {
        if (hole != top_) {
            by_size_.emplace(tiles_[hole].size, tiles_[hole].begin, hole);
        }
    }

    void forget(std::uint32_t hole) {
        if (hole != top_) {
            by_size_.erase({tiles_[hole].size, tiles_[hole].begin, hole});
        }
    }

    std::uint32_t fresh(const Tile &tile) {
        if (unused_.empty()) {
            tiles_.push_back(tile);
            return static_cast<std::uint32_t>(tiles_.size() - 1);
        }
        const std::uint32_t number = unused_.back();
        unused_.pop_back();
        tiles_[number] = tile;
        return number;
    }

    // Cuts the first bytes of a hole off.
    std::uint32_t before(std::uint32_t hole, Bytes size) {
        const std::uint32_t last = tiles_[hole].last;
        const std::uint32_t block = fresh({tiles_[hole].begin, size, 0, last, hole});
        if (last != none) {
            tiles_[last].next = block;
        }
        tiles_[hole].last = block;
        tiles_[hole].begin += size;
        tiles_[hole].size -= size;
        return block;
    }

    // Cuts the last bytes of a hole off.
    std::uint32_t after(std::uint32_t hole, Bytes size) {
        const std::uint32_t next = tiles_[hole].next;
        tiles_[hole].size -= size;
        const std::uint32_t block =
            fresh({tiles_[hole].begin + tiles_[hole].size, size, 0, hole, next});
        if (next != none) {
            tiles_[next].last = block;
        }
        tiles_[hole].next = block;
        return block;
    }

    // `second` lies behind `first` and ends to be.
    void join(std::uint32_t first, std::uint32_t second) {
        tiles_[first].size += tiles_[second].size;
        tiles_[first].next = tiles_[second].next;
        if (tiles_[second].next != none) {
            tiles_[tiles_[second].next].last = first;
        }
        top_ = second == top_ ? first : top_;
        unused_.push_back(second);
    }

    std::vector<Tile> tiles_;
    std::vector<std::uint32_t> unused_;
    std::uint32_t top_ = 0;
    std::set<std::tuple<Bytes, Bytes, std::uint32_t>> by_size_; // holes but the top
    std::uint64_t looked_at_ = 0;
};

// The free slots of one zone.
class Zone {
  public:
    Zone(Bytes base, Bytes size, std::uint64_t slots) : base_(base), size_(size) {
        for (std::uint64_t i = slots; i-- > 0;) {
            free_.push_back(static_cast<std::uint32_t>(i));
        }
    }

    [[nodiscard]] bool is_full() const { return free_.empty(); }

    Bytes take() {
        const std::uint32_t slot = free_.back();
        free_.pop_back();
        return base_ + slot * size_;
    }

    void give(Bytes offset) {
        free_.push_back(static_cast<std::uint32_t>((offset - base_) / size_));
    }

  private:
    Bytes base_;
    Bytes size_;
    std::vector<std::uint32_t> free_;
};

std::vector<Bytes> sizes_of_most_bytes(std::span<const Lifetime> lifetimes) {
    std::map<Bytes, std::uint64_t> bytes;
    for (const Lifetime &one : lifetimes) {
        bytes[one.size] += one.size;
    }
    std::vector<std::pair<std::uint64_t, Bytes>> ranked;
    for (const auto &[size, sum] : bytes) {
        ranked.emplace_back(sum, size);
    }
    std::ranges::sort(ranked, std::ranges::greater{});
    ranked.resize(std::min(ranked.size(), most_zones));
    std::vector<Bytes> sizes;
    for (const auto &[sum, size] : ranked) {
        sizes.push_back(size);
    }
    std::ranges::sort(sizes, std::ranges::greater{});
    return sizes;
}

} // namespace

ZonedPlacing::ZonedPlacing(std::span<const Lifetime> lifetimes)
    : lifetimes_(lifetimes), by_end_(lifetimes.size()), sizes_(sizes_of_most_bytes(lifetimes)) {
    std::iota(by_end_.begin(), by_end_.end(), 0U);
    std::ranges::stable_sort(by_end_, {}, [&](std::uint32_t i) { return lifetimes_[i].until; });
    for (const Lifetime &one : lifetimes_) {
        const auto place = std::ranges::lower_bound(sizes_, one.size, std::ranges::greater{});
        const bool has_zone = place != sizes_.end() && *place == one.size;
        zones_.push_back(has_zone ? static_cast<std::uint8_t>(place - sizes_.begin()) : no_zone);
    }
}

std::vector<std::uint64_t> ZonedPlacing::greedy_slots(Bytes peak) const {
    // After each begin: bytes that may be set aside and unused, and how many of the zone are live.
    std::vector<std::int64_t> spare(lifetimes_.size());
    const auto follow = [&](auto changed, auto at_begin) {
        std::size_t ended = 0;
        for (std::size_t i = 0; i < lifetimes_.size(); i++) {
            for (; lifetimes_[by_end_[ended]].until <= lifetimes_[i].from; ended++) {
                changed(by_end_[ended], -1);
            }
            changed(i, 1);
            at_begin(i);
        }
    };
    std::int64_t live = 0;
    follow([&](std::size_t i,
               int sign) { live += sign * static_cast<std::int64_t>(lifetimes_[i].size); },
           [&](std::size_t i) { spare[i] = static_cast<std::int64_t>(peak) - live; });
    std::vector<std::uint64_t> slots;
    for (std::size_t zone = 0; zone < sizes_.size(); zone++) {
        const auto size = static_cast<std::int64_t>(sizes_[zone]);
        std::int64_t count = 0;
        std::int64_t highest = 0;
        std::int64_t most = std::numeric_limits<std::int64_t>::max();
        const auto counted = [&](std::size_t i, int sign) {
            count += zones_[i] == zone ? sign : 0;
            highest = std::max(highest, count);
        };
        follow(counted, [&](std::size_t i) { most = std::min(most, count + spare[i] / size); });
        most = std::min(most, highest);
        count = 0;
        follow(counted,
               [&](std::size_t i) { spare[i] -= std::max<std::int64_t>(0, most - count) * size; });
        slots.push_back(static_cast<std::uint64_t>(most));
    }
    return slots;
}

Bytes ZonedPlacing::place(const ZonePlan &plan, Bytes most, std::vector<Bytes> &offsets,
                          std::uint64_t &steps) const {
    std::vector<Zone> zones;
    Bytes base = 0;
    for (std::size_t i = 0; i < sizes_.size(); i++) {
        zones.emplace_back(base, sizes_[i], plan.slots[i]);
        base += plan.slots[i] * sizes_[i];
    }
    const Bytes ceiling = plan.ceiling > base ? plan.ceiling - base : 0;
    Tiles tiles;
    std::vector<std::uint32_t> tile_of(lifetimes_.size(), none); // none: in a zone
    Bytes height = base;
    std::size_t ended = 0;
    std::size_t i = 0;
    for (; i < lifetimes_.size() && height <= most; i++) {
        for (; lifetimes_[by_end_[ended]].until <= lifetimes_[i].from; ended++) {
            const std::uint32_t gone = by_end_[ended];
            if (tile_of[gone] == none) {
                zones[zones_[gone]].give(offsets[gone]);
            } else {
                tiles.give(tile_of[gone]);
            }
        }
        if (zones_[i] != no_zone && !zones[zones_[i]].is_full()) {
            offsets[i] = zones[zones_[i]].take();
            continue;
        }
        tile_of[i] = tiles.take(lifetimes_[i].size, lifetimes_[i].until, plan, ceiling);
        offsets[i] = base + tiles.begin(tile_of[i]);
        height = std::max(height, offsets[i] + lifetimes_[i].size);
    }
    steps += i + tiles.looked_at() + 1;
    return height;
}

} // namespace heapfit
