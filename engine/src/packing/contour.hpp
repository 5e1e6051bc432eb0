// SPDX-License-Identifier: Apache-2.0
// A placement made from the bottom up, below a ceiling, and what it leaves to the lifetimes that
// are not placed yet.
//
//   ceiling  ------------------   Each lifetime that is not placed has a lowest place, the top of
//              a a a . . .        what is placed below it. The floor of a section is the least of
//   floor      _ _ _ b b b        its lowest places; slack is what its lifetimes leave free of the
//              # # # # # #        bytes from floor to ceiling: what may still be wasted.
//
// What must be so in every lowest placement is inferred at once, section by section, as for jobs
// with release times on one machine (Carlier 1982; for offsets also Moffitt 2023):
//   - lifetimes that lie at or above any place need their sum of bytes between it and the ceiling;
//   - below a lifetime lies no more waste than the slack: if what can lie there is too little to
//     fill the gap, then it lies higher, on the next lowest place where one of the others may end;
//   - what is ruled out at its lowest place has another lifetime in its way there, or it would lie
//     there in a lower placement.
// Each change is noted and can be taken back.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "packing/sections.hpp"

namespace heapfit {

class Contour {
  public:
    using Key = std::array<std::uint64_t, 2>;

    // Nothing is placed. `sections` outlives this.
    Contour(const Sections &sections, Bytes ceiling);

    // Each of these returns false where no placement below the ceiling follows.
    [[nodiscard]] bool infer_all();
    [[nodiscard]] bool place(std::uint32_t number); // at its lowest place
    // Has all of these lie above their lowest places, which are those of the floor of a section.
    [[nodiscard]] bool rule_out(const Numbers &numbers);

    [[nodiscard]] std::size_t mark() const { return changes_.size(); }
    void undo(std::size_t mark);

    [[nodiscard]] bool is_placed(std::uint32_t number) const { return is_placed_[number] != 0; }
    [[nodiscard]] Bytes lowest(std::uint32_t number) const { return lowest_[number]; }
    [[nodiscard]] Bytes floor(std::uint32_t section) const { return floors_[section]; }
    [[nodiscard]] Bytes slack(std::uint32_t section) const;
    // The whole of its lowest place lies on floors.
    [[nodiscard]] bool is_flat(std::uint32_t number) const;
    // How often a section contradicted a placement, and 1.
    [[nodiscard]] std::uint64_t weight(std::uint32_t section) const { return weights_[section]; }

    // What decides all that can follow for these lifetimes, none of which is placed; false where
    // one of them has nothing in its way at a place that was ruled out.
    [[nodiscard]] bool add_to_key(const Numbers &numbers, Key &key) const;

    // Where each lifetime lies.
    [[nodiscard]] const std::vector<Bytes> &offsets() const { return lowest_; }

    // A ceiling above this one below which all was inferred as it would be for this one.
    [[nodiscard]] Bytes next_ceiling() const { return next_ceiling_; }

  private:
    enum class What : std::uint8_t { lowest, floor, placed, ruled_out };
    struct Change {
        What what;
        std::uint32_t index;
        Bytes before;
    };
    enum class InTheWay : std::uint8_t { nothing, possibly, placed };

    [[nodiscard]] bool needs(Bytes ceiling);
    void change(SectionSpan span);
    [[nodiscard]] bool raise(std::uint32_t number, Bytes lowest);
    [[nodiscard]] bool infer_changed();
    [[nodiscard]] bool infer(std::uint32_t section);
    [[nodiscard]] bool fits_from_each_place_up();
    [[nodiscard]] bool fill_gaps();
    [[nodiscard]] Bytes next_filled(std::uint32_t number, std::size_t ended, Bytes filled);
    [[nodiscard]] InTheWay in_the_way(std::uint32_t number, Bytes place) const;
    [[nodiscard]] bool forget_changed();

    const Sections &sections_;
    Bytes ceiling_;
    Bytes next_ceiling_ = UINT64_MAX;
    std::vector<Bytes> lowest_; // of each lifetime; where it lies if it is placed
    std::vector<std::uint8_t> is_placed_;
    std::vector<std::vector<Bytes>> ruled_out_; // of each lifetime
    std::vector<Bytes> floors_;
    std::vector<std::uint64_t> weights_;
    std::vector<Change> changes_;
    Numbers changed_; // sections to infer from
    std::vector<std::uint8_t> is_changed_;

    // Of the section looked at.
    Numbers open_;                              // not placed, by lowest place
    std::vector<std::pair<Bytes, Bytes>> ends_; // lowest end and size of each, ascending
    Bytes floor_ = 0;
    Bytes slack_ = 0;
};

} // namespace heapfit
