// SPDX-License-Identifier: Apache-2.0
#include "heapfit/budget/points.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "budget/changes.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// How many points at most a new one is compared with: those that were of use last come first.
constexpr std::size_t compared_at_once = 64;
constexpr std::size_t compared_at_last = 4096;

// Tells a visitor, visit(live, slack), each state after which blocks are freed, and the last one.
template <typename Visitor> void for_each_peak(const BudgetChanges &reduced, Visitor visit) {
    std::vector<std::int64_t> live(reduced.classes.size());
    std::int64_t slack = reduced.u_max;
    bool has_grown = false;
    for (const BudgetChange &change : reduced.changes) {
        const bool grows = change.bytes > 0;
        if (has_grown && !grows) {
            visit(live, slack);
        }
        has_grown = grows;
        slack -= change.bytes;
        if (change.rank != no_class) {
            live[change.rank] += grows ? 1 : -1;
        }
    }
    if (has_grown) {
        visit(live, slack);
    }
}

// The most N_i that every single point allows, by rank.
std::vector<std::int64_t> find_caps(const BudgetChanges &reduced) {
    const std::size_t count = reduced.classes.size();
    std::vector<std::int64_t> peaks(count);
    std::vector<std::int64_t> caps(count, INT64_MAX);
    for_each_peak(reduced, [&](const std::vector<std::int64_t> &live, std::int64_t slack) {
        for (std::size_t rank = 0; rank < count; rank++) {
            const auto size = static_cast<std::int64_t>(reduced.classes[rank].size);
            peaks[rank] = std::max(peaks[rank], live[rank]);
            caps[rank] = std::min(caps[rank], live[rank] + slack / size);
        }
    });
    for (std::size_t rank = 0; rank < count; rank++) {
        caps[rank] = std::min(caps[rank], peaks[rank]);
    }
    return caps;
}

// Sums of S_i N_i have to stay below 2^63.
void refuse_large_sums(const BudgetChanges &reduced) {
    const auto count = static_cast<std::int64_t>(std::max<std::size_t>(reduced.classes.size(), 1));
    if (reduced.u_max > INT64_MAX / count) {
        throw Error("budget: " + std::to_string(reduced.u_max) + " live bytes are too many for " +
                    std::to_string(count) + " sizes");
    }
}

// Whether the point `by` makes the point `other` redundant.
bool implies(const BudgetPoints &points, std::size_t by, std::size_t other) {
    std::int64_t room = points.slacks[other] - points.slacks[by];
    const auto strong = points.row(by);
    const auto weak = points.row(other);
    for (std::size_t i = 0; i < strong.size() && room >= 0; i++) {
        if (strong[i] > weak[i]) {
            room -= points.sizes[i] * (strong[i] - weak[i]);
        }
    }
    return room >= 0;
}

// Points that were kept, the most useful of late first.
class Kept {
  public:
    explicit Kept(std::size_t compared) : compared_(compared) {}

    bool makes_redundant(const BudgetPoints &points, std::size_t point) {
        const std::size_t count = std::min(order_.size(), compared_);
        for (std::size_t i = 0; i < count; i++) {
            if (implies(points, order_[i], point)) {
                std::swap(order_[i], order_[i / 2]);
                return true;
            }
        }
        return false;
    }

    void add(std::size_t point) {
        order_.push_back(point);
        std::swap(order_.back(), order_[order_.size() / 2]);
    }

  private:
    std::size_t compared_;
    std::vector<std::size_t> order_;
};

// Collects the points that the caps alone do not satisfy.
struct Collect {
    const BudgetChanges &reduced;
    BudgetPoints &points;
    Kept kept{compared_at_once};

    void operator()(const std::vector<std::int64_t> &live, std::int64_t slack) {
        const std::size_t count = points.sizes.size();
        const std::size_t start = points.live.size();
        points.live.resize(start + count);
        std::int64_t unused = 0;
        for (std::size_t rank = 0; rank < count; rank++) {
            const std::size_t i = reduced.classes[rank].index;
            const std::int64_t counted = std::min(live[rank], points.caps[i]);
            unused += points.sizes[i] * (points.caps[i] - counted);
            points.live[start + i] = static_cast<std::uint32_t>(counted);
        }
        points.slacks.push_back(slack);
        const std::size_t point = points.slacks.size() - 1;
        if (unused <= slack || kept.makes_redundant(points, point)) {
            points.slacks.pop_back();
            points.live.resize(start);
        } else {
            kept.add(point);
        }
    }
};

// The same without redundant points, by ascending slack: only a point of less slack implies one.
BudgetPoints without_redundant(const BudgetPoints &points) {
    std::vector<std::size_t> order(points.slacks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t point) { return points.slacks[point]; });
    BudgetPoints rest{points.sizes, points.caps, points.u_max, {}, {}};
    Kept kept{compared_at_last};
    for (const std::size_t point : order) {
        if (!kept.makes_redundant(points, point)) {
            kept.add(point);
            rest.slacks.push_back(points.slacks[point]);
            rest.live.insert(rest.live.end(), points.row(point).begin(), points.row(point).end());
        }
    }
    return rest;
}

} // namespace

BudgetPoints budget_points(std::span<const Event> events, std::span<const Bytes> sizes,
                           std::uint32_t alignment) {
    const BudgetChanges reduced = budget_changes(events, sizes, alignment);
    refuse_large_sums(reduced);
    BudgetPoints points;
    points.sizes.resize(sizes.size());
    points.caps.resize(sizes.size());
    points.u_max = reduced.u_max;
    const std::vector<std::int64_t> caps = find_caps(reduced);
    for (std::size_t rank = 0; rank < caps.size(); rank++) {
        const std::size_t i = reduced.classes[rank].index;
        points.sizes[i] = static_cast<std::int64_t>(reduced.classes[rank].size);
        points.caps[i] = caps[rank];
    }
    Collect collect{reduced, points};
    for_each_peak(reduced, [&](const auto &live, std::int64_t slack) { collect(live, slack); });
    return without_redundant(points);
}

} // namespace heapfit
