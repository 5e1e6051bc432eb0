// SPDX-License-Identifier: Apache-2.0
#include "heapfit/workload/block_draw.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t most_objects = (std::uint64_t{1} << 32) - 1;
constexpr std::uint64_t latest_end = std::uint64_t{1} << 62;
constexpr std::uint64_t places_of_a_block = 4; // where others may begin
constexpr std::uint64_t reach_share = 8; // of a phase, and at least so many blocks, from the seam
constexpr std::uint64_t least_reach = 4;
constexpr std::uint64_t stretch = 64; // objects that are passed over together

// How far apart two counts of bytes are, by wrapping arithmetic.
Bytes distance(Bytes a, Bytes b) {
    return std::min(a - b, b - a);
}

// The latest end of each stretch of objects.
std::vector<std::uint64_t> latest_ends(std::span<const std::uint64_t> ends) {
    std::vector<std::uint64_t> latest;
    for (std::size_t i = 0; i < ends.size(); i += stretch) {
        const auto part = ends.subspan(i, std::min<std::size_t>(stretch, ends.size() - i));
        latest.push_back(*std::ranges::max_element(part));
    }
    return latest;
}

void check_recorded(const RecordedLives &recorded, std::uint64_t objects) {
    const auto &[sizes, ends, live] = recorded;
    if (sizes.size() != objects || ends.size() != objects || live.size() != objects) {
        throw Error("block draw: sizes, ends or live bytes are not those of " +
                    std::to_string(objects) + " objects");
    }
    for (std::uint64_t i = 0; i < objects; i++) {
        if (ends[i] <= i || ends[i] > latest_end) {
            throw Error("block draw: object " + std::to_string(i) +
                        " ends before it is born, or beyond 2^62");
        }
    }
}

} // namespace

// A draw under way. Its buffers are kept from seam to seam.
class BlockDraw::Drawing {
  public:
    Drawing(const RecordedLives &recorded, std::uint64_t step)
        : recorded_(recorded), step_(step), latest_(latest_ends(recorded.ends)) {
        for (auto *column : {&drawn_.source, &drawn_.ends, &drawn_.freed_as}) {
            column->resize(recorded.ends.size());
        }
    }

    void join(const Seam &seam, std::uint64_t pick) {
        std::erase_if(live_, [&](std::uint64_t i) { return drawn_.ends[i] <= seam.at; });
        const std::uint64_t begin = picked_place(seam, pick);
        give_back(seam.at);
        find_recorded(begin);
        take_over(seam.at, begin);
        copy(seam, begin);
    }

    [[nodiscard]] DrawnLives drawn() && { return std::move(drawn_); }

  private:
    // In order, objects of a size stand together, the oldest first.
    struct Sized {
        Bytes size;
        std::uint64_t object;
        auto operator<=>(const Sized &) const = default;
    };

    // In order, the nearest in live bytes stands first, of equally near ones the earlier.
    struct Place {
        Bytes distance;
        std::uint64_t begin;
        auto operator<=>(const Place &) const = default;
    };

    std::uint64_t picked_place(const Seam &seam, std::uint64_t pick) {
        Bytes bytes = 0;
        for (const std::uint64_t i : live_) {
            bytes += recorded_.sizes[drawn_.source[i]];
        }
        places_.clear();
        for (std::uint64_t i = 0; i < seam.places; i++) {
            const std::uint64_t begin = seam.lowest + i * step_;
            places_.push_back({distance(recorded_.live[begin], bytes), begin});
        }
        const auto picked = places_.begin() + static_cast<std::ptrdiff_t>(pick);
        std::ranges::nth_element(places_, picked);
        return picked->begin;
    }

    // Gives what is live its own life; where that is over, it ends at the seam.
    void give_back(std::uint64_t seam) {
        ours_.clear();
        for (const std::uint64_t i : live_) {
            const std::uint64_t source = drawn_.source[i];
            drawn_.ends[i] = std::max(recorded_.ends[source] - source + i, seam);
            drawn_.freed_as[i] = source;
            ours_.push_back({recorded_.sizes[source], i});
        }
    }

    // What was live in the recording before the object `begin` was born.
    void find_recorded(std::uint64_t begin) {
        theirs_.clear();
        for (std::uint64_t first = 0; first < begin; first += stretch) {
            if (latest_[first / stretch] <= begin) {
                continue;
            }
            for (std::uint64_t i = first; i < std::min(begin, first + stretch); i++) {
                if (recorded_.ends[i] > begin) {
                    theirs_.push_back({recorded_.sizes[i], i});
                }
            }
        }
    }

    // Pairs objects of equal sizes, the oldest with the oldest, as far as both go.
    void take_over(std::uint64_t seam, std::uint64_t begin) {
        std::ranges::sort(ours_);
        std::ranges::sort(theirs_);
        auto their = theirs_.begin();
        for (const Sized &our : ours_) {
            while (their != theirs_.end() && their->size < our.size) {
                ++their;
            }
            if (their != theirs_.end() && their->size == our.size) {
                drawn_.ends[our.object] = recorded_.ends[their->object] - begin + seam;
                drawn_.freed_as[our.object] = their->object;
                ++their;
            }
        }
    }

    void copy(const Seam &seam, std::uint64_t begin) {
        for (std::uint64_t i = 0; i < seam.length; i++) {
            const std::uint64_t object = seam.at + i;
            drawn_.source[object] = begin + i;
            drawn_.freed_as[object] = begin + i;
            drawn_.ends[object] = recorded_.ends[begin + i] - begin + seam.at;
            live_.push_back(object);
        }
    }

    RecordedLives recorded_;
    std::uint64_t step_;
    std::vector<std::uint64_t> latest_;
    DrawnLives drawn_;
    std::vector<std::uint64_t> live_; // drawn objects, the oldest first
    std::vector<Place> places_;
    std::vector<Sized> ours_;   // live at the seam
    std::vector<Sized> theirs_; // live in the recording where the block begins
};

BlockDraw::BlockDraw(std::uint64_t objects, std::span<const std::uint64_t> phases,
                     std::uint64_t block)
    : objects_(objects), block_(block),
      step_(std::max<std::uint64_t>(1, block / places_of_a_block)) {
    if (objects > most_objects || block < 1 || phases.empty() || phases.front() != 0) {
        throw Error("block draw: there must be less than 2^32 objects, blocks of one or more, and "
                    "a first phase from object 0");
    }
    for (std::size_t i = 0; i < phases.size(); i++) {
        const std::uint64_t end = i + 1 < phases.size() ? phases[i + 1] : objects;
        if (end > objects || end < phases[i] || end - phases[i] < block) {
            throw Error("block draw: phase " + std::to_string(i) + " is shorter than a block (" +
                        std::to_string(block) + " objects) or goes beyond the last object");
        }
        add_phase(phases[i], end);
    }
}

void BlockDraw::add_phase(std::uint64_t first, std::uint64_t end) {
    const std::uint64_t last = end - block_;
    const std::uint64_t reach = std::max((end - first) / reach_share, least_reach * block_);
    for (std::uint64_t at = first; at < end; at += block_) {
        const std::uint64_t middle = std::min(at, last);
        const std::uint64_t lowest = middle - std::min(reach, middle - first);
        const std::uint64_t highest = std::min(last, at + reach);
        seams_.push_back({at, std::min(block_, end - at), lowest, (highest - lowest) / step_ + 1});
    }
}

// Roots of numbers below 2^52 are exact where they are whole, and rounded up to no whole number.
std::uint64_t BlockDraw::choices_of(const Seam &seam) {
    const auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(seam.places)));
    return std::min(root + 1, seam.places);
}

std::vector<std::uint64_t> BlockDraw::choices() const {
    std::vector<std::uint64_t> choices;
    for (const Seam &seam : seams_) {
        choices.push_back(choices_of(seam));
    }
    return choices;
}

DrawnLives BlockDraw::draw(const RecordedLives &recorded,
                           std::span<const std::uint64_t> picks) const {
    check_recorded(recorded, objects_);
    if (picks.size() != seams_.size()) {
        throw Error("block draw: " + std::to_string(picks.size()) + " picks for " +
                    std::to_string(seams_.size()) + " seams");
    }
    Drawing drawing(recorded, step_);
    for (std::size_t i = 0; i < picks.size(); i++) {
        if (picks[i] >= choices_of(seams_[i])) {
            throw Error("block draw: pick " + std::to_string(picks[i]) + " of seam " +
                        std::to_string(i) + " is none of its choices");
        }
        drawing.join(seams_[i], picks[i]);
    }
    return std::move(drawing).drawn();
}

} // namespace heapfit
