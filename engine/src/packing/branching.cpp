// SPDX-License-Identifier: Apache-2.0
#include "packing/branching.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "heapfit/random.hpp"
#include "packing/contour.hpp"

namespace heapfit {

namespace {

enum class SectionRule : std::uint8_t { lowest, fewest, fewest_weighted, tightest };
enum class LifetimeRule : std::uint8_t { longest, shortest, largest_area, busiest };

struct Order {
    SectionRule section;
    LifetimeRule lifetime;
};

constexpr std::array<Order, 7> orders = {{
    {SectionRule::lowest, LifetimeRule::longest},
    {SectionRule::fewest, LifetimeRule::shortest},
    {SectionRule::fewest_weighted, LifetimeRule::longest},
    {SectionRule::lowest, LifetimeRule::shortest},
    {SectionRule::fewest, LifetimeRule::busiest},
    {SectionRule::tightest, LifetimeRule::longest},
    {SectionRule::lowest, LifetimeRule::largest_area},
}};

constexpr std::uint64_t first_tries = 1000; // of each order, in the first cycle
constexpr std::uint64_t asked_every = 1024; // placements
constexpr std::uint64_t most_failed = std::uint64_t{1} << 20;
constexpr int most_nested = 10'000;

// States that failed; a new one takes the place of an old one.
class FailedStates {
  public:
    explicit FailedStates(std::uint64_t placements)
        : keys_(std::bit_ceil(std::clamp<std::uint64_t>(placements, 1, most_failed))) {}

    [[nodiscard]] bool contains(const Contour::Key &key) const {
        return keys_[key[0] & (keys_.size() - 1)] == key;
    }
    void add(const Contour::Key &key) { keys_[key[0] & (keys_.size() - 1)] = key; }

  private:
    std::vector<Contour::Key> keys_;
};

class Search {
  public:
    Search(const Sections &sections, Bytes ceiling, const BranchingEffort &effort,
           const std::function<bool(std::uint64_t)> &goes_on)
        : sections_(sections), goes_on_(goes_on), most_(effort.placements), random_(effort.seed, 2),
          contour_(sections, ceiling), failed_(effort.placements), scores_(sections.sizes.size()),
          loads_(sections.members.size()), is_flat_(sections.sizes.size()) {
        for (std::size_t section = 0; section < loads_.size(); section++) {
            for (const std::uint32_t number : sections.members[section]) {
                loads_[section] += sections.sizes[number];
            }
        }
    }

    Branching run() {
        Below result = contour_.infer_all() ? Below::undecided : Below::impossible;
        std::uint64_t tries = first_tries;
        for (std::uint64_t turn = 0; result == Below::undecided && !is_over(); turn++) {
            section_rule_ = orders[turn % orders.size()].section;
            score_lifetimes(orders[turn % orders.size()].lifetime, turn >= orders.size());
            until_ = std::min(most_, tried_ + tries);
            const std::size_t mark = contour_.mark();
            result = place_parts(all_lifetimes());
            if (result == Below::undecided) {
                contour_.undo(mark);
            }
            tries += turn % orders.size() == orders.size() - 1 ? tries / 2 : 0;
        }
        const bool is_placed = result == Below::placed;
        return {result, is_placed ? contour_.offsets() : std::vector<Bytes>(), tried_,
                contour_.next_ceiling()};
    }

  private:
    [[nodiscard]] bool is_over() const { return tried_ >= most_ || is_stopped_; }

    [[nodiscard]] Numbers all_lifetimes() const {
        Numbers all(sections_.sizes.size());
        for (std::uint32_t i = 0; i < all.size(); i++) {
            all[i] = i;
        }
        return all;
    }

    // What is tried first on a floor has the highest score.
    void score_lifetimes(LifetimeRule rule, bool is_varied) {
        for (std::uint32_t i = 0; i < scores_.size(); i++) {
            const SectionSpan span = sections_.spans[i];
            const auto life = static_cast<double>(sections_.lives[i]);
            const auto size = static_cast<double>(sections_.sizes[i]);
            const double width = span.end - span.begin;
            double score = life;
            if (rule == LifetimeRule::shortest) {
                score = -width;
            } else if (rule == LifetimeRule::largest_area) {
                score = life * size;
            } else if (rule == LifetimeRule::busiest) {
                const auto loads = std::span(loads_).subspan(span.begin, span.end - span.begin);
                score = static_cast<double>(std::ranges::max(loads)) * 1e9 + width * size / 1e3;
            }
            const double varied = is_varied ? static_cast<double>(random_.below(300)) / 1000 : 0;
            scores_[i] = score * (1 + varied);
        }
    }

    // Each part that overlaps no other in time is placed for itself, the smallest first.
    Below place_parts(const Numbers &numbers) {
        std::vector<Numbers> parts;
        std::uint32_t end = 0;
        for (const std::uint32_t number : numbers) {
            if (contour_.is_placed(number)) {
                continue;
            }
            if (parts.empty() || sections_.spans[number].begin >= end) {
                parts.emplace_back();
            }
            parts.back().push_back(number);
            end = std::max(end, sections_.spans[number].end);
        }
        std::ranges::stable_sort(parts, {}, &Numbers::size);
        for (const Numbers &part : parts) {
            const Below result = place_part(part);
            if (result != Below::placed) {
                return result;
            }
        }
        return Below::placed;
    }

    Below place_part(const Numbers &part) {
        Contour::Key key = {};
        if (!contour_.add_to_key(part, key) || failed_.contains(key)) {
            return Below::impossible;
        }
        const Numbers candidates = choose(part);
        for (std::size_t i = 0; i < candidates.size(); i++) {
            if (is_same_as_earlier(candidates, i)) {
                continue;
            }
            const Below result = attempt(part, [&] { return contour_.place(candidates[i]); });
            if (result != Below::impossible) {
                return result;
            }
        }
        const Below result = attempt(part, [&] { return contour_.rule_out(candidates); });
        if (result == Below::impossible) {
            failed_.add(key);
        }
        return result;
    }

    // Changes the contour and goes on from there; takes that back if nothing came of it.
    template <typename Change> Below attempt(const Numbers &part, Change change) {
        if (!may_try()) {
            return Below::undecided;
        }
        const std::size_t mark = contour_.mark();
        nested_++;
        const Below result = change() ? place_parts(part) : Below::impossible;
        nested_--;
        if (result == Below::impossible) {
            contour_.undo(mark);
        }
        return result;
    }

    bool may_try() {
        if (tried_ >= until_ || is_stopped_ || nested_ >= most_nested) {
            return false;
        }
        tried_++;
        is_stopped_ = tried_ % asked_every == 0 && !goes_on_(tried_);
        return true;
    }

    [[nodiscard]] bool is_same_as_earlier(const Numbers &candidates, std::size_t i) const {
        const auto is_same = [&](std::uint32_t a, std::uint32_t b) {
            return sections_.spans[a].begin == sections_.spans[b].begin &&
                   sections_.spans[a].end == sections_.spans[b].end &&
                   sections_.sizes[a] == sections_.sizes[b];
        };
        const auto earlier = std::span(candidates).first(i);
        return std::ranges::any_of(
            earlier, [&](std::uint32_t other) { return is_same(candidates[i], other); });
    }

    // The lifetimes that may lie on the floor of the section to branch at, best first. Each of them
    // must lie there with its whole life, so that nothing can come to lie below it; the lowest
    // floor is always such a section.
    Numbers choose(const Numbers &part) {
        std::uint32_t end = 0;
        for (const std::uint32_t number : part) {
            is_flat_[number] = contour_.is_flat(number) ? 1 : 0;
            end = std::max(end, sections_.spans[number].end);
        }
        std::uint32_t chosen = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::uint32_t section = sections_.spans[part.front()].begin; section < end;
             section++) {
            const double rank = rank_of(section);
            if (rank < least) {
                least = rank;
                chosen = section;
            }
        }
        Numbers candidates;
        for (const std::uint32_t number : sections_.members[chosen]) {
            if (lies_on_floor(number, chosen)) {
                candidates.push_back(number);
            }
        }
        std::ranges::stable_sort(candidates, std::ranges::greater{},
                                 [&](std::uint32_t number) { return scores_[number]; });
        return candidates;
    }

    [[nodiscard]] bool lies_on_floor(std::uint32_t number, std::uint32_t section) const {
        return !contour_.is_placed(number) && contour_.lowest(number) == contour_.floor(section);
    }

    // The section of the least rank is branched at; infinite where that is not possible.
    [[nodiscard]] double rank_of(std::uint32_t section) const {
        std::uint32_t candidates = 0;
        for (const std::uint32_t number : sections_.members[section]) {
            if (lies_on_floor(number, section)) {
                if (is_flat_[number] == 0) {
                    return std::numeric_limits<double>::infinity();
                }
                candidates++;
            }
        }
        if (candidates == 0) {
            return std::numeric_limits<double>::infinity();
        }
        const auto floor = static_cast<double>(contour_.floor(section));
        switch (section_rule_) {
        case SectionRule::lowest:
            return floor + candidates * 1e-3;
        case SectionRule::tightest:
            return static_cast<double>(contour_.slack(section));
        default:
            break;
        }
        const double branches = candidates + (contour_.slack(section) > 0 ? 1 : 0);
        const bool is_weighted = section_rule_ == SectionRule::fewest_weighted;
        return is_weighted ? branches / static_cast<double>(contour_.weight(section)) : branches;
    }

    const Sections &sections_;
    const std::function<bool(std::uint64_t)> &goes_on_;
    std::uint64_t most_; // placements
    std::uint64_t tried_ = 0;
    std::uint64_t until_ = 0; // of this order
    int nested_ = 0;
    bool is_stopped_ = false;
    Philox random_;
    Contour contour_;
    FailedStates failed_;
    SectionRule section_rule_ = SectionRule::lowest;
    std::vector<double> scores_;        // of each lifetime
    std::vector<Bytes> loads_;          // of each section: the bytes of all its lifetimes
    std::vector<std::uint8_t> is_flat_; // of each lifetime of the part
};

} // namespace

Branching place_below(const Sections &sections, Bytes ceiling, const BranchingEffort &effort,
                      const std::function<bool(std::uint64_t)> &goes_on) {
    return Search(sections, ceiling, effort, goes_on).run();
}

} // namespace heapfit
