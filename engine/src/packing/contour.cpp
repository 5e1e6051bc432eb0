// SPDX-License-Identifier: Apache-2.0
#include "packing/contour.hpp"

#include <algorithm>
#include <utility>

namespace heapfit {

namespace {

// The finalizer of SplitMix64 (Steele, Lea and Flood 2014).
std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

void add(Contour::Key &key, std::uint64_t a, std::uint64_t b) {
    key[0] ^= mix(mix(a) ^ b);
    key[1] ^= mix(mix(~a) + b);
}

} // namespace

Contour::Contour(const Sections &sections, Bytes ceiling)
    : sections_(sections), ceiling_(ceiling), lowest_(sections.sizes.size()),
      is_placed_(sections.sizes.size()), ruled_out_(sections.sizes.size()),
      floors_(sections.members.size()), weights_(sections.members.size(), 1),
      is_changed_(sections.members.size()) {}

bool Contour::infer_all() {
    change({0, static_cast<std::uint32_t>(floors_.size())});
    return infer_changed();
}

bool Contour::place(std::uint32_t number) {
    const Bytes top = lowest_[number] + sections_.sizes[number];
    is_placed_[number] = 1;
    changes_.push_back({What::placed, number, 0});
    for (const std::uint32_t other : sections_.overlapping[number]) {
        if (!is_placed(other) && !raise(other, top)) {
            return forget_changed();
        }
    }
    const auto is_blocked = [&](Bytes place) {
        return in_the_way(number, place) == InTheWay::placed;
    };
    if (!std::ranges::all_of(ruled_out_[number], is_blocked)) {
        return forget_changed();
    }
    change(sections_.spans[number]);
    return infer_changed();
}

bool Contour::rule_out(const Numbers &numbers) {
    std::vector<Bytes> places;
    for (const std::uint32_t number : numbers) {
        Bytes next = UINT64_MAX;
        for (const std::uint32_t other : sections_.overlapping[number]) {
            if (!is_placed(other)) {
                next = std::min(next, lowest_[other] + sections_.sizes[other]);
            }
        }
        places.push_back(next);
    }
    for (std::size_t i = 0; i < numbers.size(); i++) {
        if (places[i] == UINT64_MAX) {
            return forget_changed(); // nothing is left that could lie below it
        }
        ruled_out_[numbers[i]].push_back(lowest_[numbers[i]]);
        changes_.push_back({What::ruled_out, numbers[i], 0});
        if (!raise(numbers[i], places[i])) {
            return forget_changed();
        }
    }
    return infer_changed();
}

void Contour::undo(std::size_t mark) {
    while (changes_.size() > mark) {
        const Change &change = changes_.back();
        switch (change.what) {
        case What::lowest:
            lowest_[change.index] = change.before;
            break;
        case What::floor:
            floors_[change.index] = change.before;
            break;
        case What::placed:
            is_placed_[change.index] = 0;
            break;
        case What::ruled_out:
            ruled_out_[change.index].pop_back();
            break;
        }
        changes_.pop_back();
    }
}

Bytes Contour::slack(std::uint32_t section) const {
    Bytes free = ceiling_ - floors_[section];
    for (const std::uint32_t number : sections_.members[section]) {
        free -= is_placed(number) ? 0 : sections_.sizes[number];
    }
    return free;
}

bool Contour::is_flat(std::uint32_t number) const {
    const SectionSpan span = sections_.spans[number];
    const auto floors = std::span(floors_).subspan(span.begin, span.end - span.begin);
    return std::ranges::all_of(floors, [&](Bytes floor) { return floor == lowest_[number]; });
}

bool Contour::add_to_key(const Numbers &numbers, Key &key) const {
    for (const std::uint32_t number : numbers) {
        add(key, 2 * std::uint64_t{number}, lowest_[number]);
        for (const Bytes place : ruled_out_[number]) {
            const InTheWay found = in_the_way(number, place);
            if (found == InTheWay::nothing) {
                return false;
            }
            if (found == InTheWay::possibly) {
                add(key, 2 * std::uint64_t{number} + 1, place);
            }
        }
    }
    return true;
}

// Whether something lies where `number` would at `place`, or something not placed yet may come to.
Contour::InTheWay Contour::in_the_way(std::uint32_t number, Bytes place) const {
    const Bytes end = place + sections_.sizes[number];
    InTheWay found = InTheWay::nothing;
    for (const std::uint32_t other : sections_.overlapping[number]) {
        if (lowest_[other] >= end) {
            continue;
        }
        if (!is_placed(other)) {
            found = InTheWay::possibly;
        } else if (lowest_[other] + sections_.sizes[other] > place) {
            return InTheWay::placed;
        }
    }
    return found;
}

void Contour::change(SectionSpan span) {
    for (std::uint32_t section = span.begin; section < span.end; section++) {
        if (is_changed_[section] == 0) {
            is_changed_[section] = 1;
            changed_.push_back(section);
        }
    }
}

// A higher ceiling is noted as the next one.
bool Contour::needs(Bytes ceiling) {
    if (ceiling <= ceiling_) {
        return true;
    }
    next_ceiling_ = std::min(next_ceiling_, ceiling);
    return false;
}

bool Contour::raise(std::uint32_t number, Bytes lowest) {
    if (lowest_[number] >= lowest) {
        return true;
    }
    changes_.push_back({What::lowest, number, lowest_[number]});
    lowest_[number] = lowest;
    change(sections_.spans[number]);
    return needs(lowest + sections_.sizes[number]);
}

bool Contour::infer_changed() {
    for (std::size_t next = 0; next < changed_.size(); next++) {
        const std::uint32_t section = changed_[next];
        is_changed_[section] = 0;
        if (!infer(section)) {
            weights_[section]++;
            return forget_changed();
        }
    }
    changed_.clear();
    return true;
}

bool Contour::forget_changed() {
    for (const std::uint32_t section : changed_) {
        is_changed_[section] = 0;
    }
    changed_.clear();
    return false;
}

bool Contour::infer(std::uint32_t section) {
    open_.clear();
    Bytes sum = 0;
    for (const std::uint32_t number : sections_.members[section]) {
        if (!is_placed(number)) {
            open_.push_back(number);
            sum += sections_.sizes[number];
        }
    }
    if (open_.empty()) {
        return true;
    }
    // Equal places by number, so that every C++ library has one order.
    std::ranges::sort(open_, {},
                      [&](std::uint32_t number) { return std::pair(lowest_[number], number); });
    floor_ = lowest_[open_.front()];
    if (floor_ != floors_[section]) {
        changes_.push_back({What::floor, section, floors_[section]});
        floors_[section] = floor_;
    }
    if (!fits_from_each_place_up()) {
        return false;
    }
    slack_ = ceiling_ - floor_ - sum;
    return fill_gaps();
}

bool Contour::fits_from_each_place_up() {
    Bytes sum = 0;
    for (auto number = open_.rbegin(); number != open_.rend(); number++) {
        sum += sections_.sizes[*number];
        if (!needs(lowest_[*number] + sum)) {
            return false;
        }
    }
    return true;
}

// Raises what would have more waste below it than there is slack.
bool Contour::fill_gaps() {
    ends_.clear();
    for (const std::uint32_t number : open_) {
        ends_.emplace_back(lowest_[number] + sections_.sizes[number], sections_.sizes[number]);
    }
    std::ranges::sort(ends_);
    std::size_t ended = 0;
    Bytes filled = 0;
    for (const std::uint32_t number : open_) {
        const Bytes place = lowest_[number];
        for (; ended < ends_.size() && ends_[ended].first <= place; ended++) {
            filled += ends_[ended].second;
        }
        if (place - floor_ > filled + slack_ &&
            !raise(number, next_filled(number, ended, filled))) {
            return false;
        }
    }
    return true;
}

// The next place at which enough of the others may have ended below `number`.
Bytes Contour::next_filled(std::uint32_t number, std::size_t ended, Bytes filled) {
    const std::pair own{lowest_[number] + sections_.sizes[number], sections_.sizes[number]};
    Bytes wasted = lowest_[number] - floor_ - filled;
    bool is_own_passed = false;
    for (; ended < ends_.size(); ended++) {
        next_ceiling_ = std::min(next_ceiling_, ceiling_ + (wasted - slack_));
        if (!is_own_passed && ends_[ended] == own) {
            is_own_passed = true;
            continue;
        }
        filled += ends_[ended].second;
        if (ends_[ended].first - floor_ <= filled + slack_) {
            return ends_[ended].first;
        }
        wasted = ends_[ended].first - floor_ - filled;
    }
    next_ceiling_ = std::min(next_ceiling_, ceiling_ + (wasted - slack_));
    return UINT64_MAX / 2;
}

} // namespace heapfit
