// SPDX-License-Identifier: Apache-2.0
// What a pass over a trace keeps of each live object, found by the object's number in one
// indirection.
//
//   pages_   +---+---+---+---+      a page: 1,024 values and a live bit for each
//            | o | 0 | 0 | o |      0: all of the page's objects are dead, so the page was given
//            back
//            +-|-+---+---+-|-+
//              v           v        Memory follows the live objects, not the length of the trace.
//            page        page
//
// Objects are numbered 0, 1, 2, ... in order of allocation and numbers are never reused
// (docs/trace-schema.md), so an object that is not live is dead if its number is below `next`, else
// not yet born.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

template <typename Value> class ObjectTable {
  public:
    // The value of an object that is born now, to be filled in; nullptr unless it is the next one.
    [[nodiscard]] Value *begin(ObjectId object) {
        if (object != next_) {
            return nullptr;
        }
        if (object % page_objects == 0) {
            pages_.push_back(take_page());
        }
        next_++;
        live_++;
        return pages_[object / page_objects]->begin(object % page_objects);
    }

    // The value of a live object, else nullptr.
    [[nodiscard]] Value *find(ObjectId object) const {
        if (object >= next_) {
            return nullptr;
        }
        Page *const page = pages_[object / page_objects].get();
        return page != nullptr ? page->find(object % page_objects) : nullptr;
    }

    // Ends a live object; its value is gone.
    void end(ObjectId object) {
        std::unique_ptr<Page> &page = pages_[object / page_objects];
        page->end(object % page_objects);
        live_--;
        const bool is_full = next_ / page_objects > object / page_objects;
        if (page->live == 0 && is_full) {
            give_back(std::move(page));
        }
    }

    // The number that the next allocation must have. 64 bits: one past the last ObjectId is
    // possible.
    [[nodiscard]] std::uint64_t next() const { return next_; }

    // How many objects are live.
    [[nodiscard]] std::uint64_t live() const { return live_; }

    // Calls visit(value) for every live object in order of allocation.
    template <typename Visit> void for_each_live(Visit visit) const {
        for (const std::unique_ptr<Page> &page : pages_) {
            for (std::size_t i = 0; page != nullptr && i < page_objects; i++) {
                if (const Value *value = page->find(i)) {
                    visit(*value);
                }
            }
        }
    }

  private:
    static constexpr std::size_t page_objects = 1024;
    static constexpr std::size_t spare_pages = 16; // kept to be filled again while they are warm

    struct Page {
        std::array<std::uint64_t, page_objects / 64> live_bits{};
        std::uint32_t live = 0;
        std::array<Value, page_objects> values;

        static constexpr std::uint64_t bit(std::size_t index) {
            return std::uint64_t{1} << (index % 64);
        }

        Value *begin(std::size_t index) {
            live_bits[index / 64] |= bit(index);
            live++;
            return &values[index];
        }

        Value *find(std::size_t index) {
            return (live_bits[index / 64] & bit(index)) != 0 ? &values[index] : nullptr;
        }

        void end(std::size_t index) {
            live_bits[index / 64] &= ~bit(index);
            live--;
        }
    };

    std::unique_ptr<Page> take_page() {
        if (spare_.empty()) {
            return std::make_unique_for_overwrite<Page>();
        }
        std::unique_ptr<Page> page = std::move(spare_.back());
        spare_.pop_back();
        return page;
    }

    // A page whose objects are all dead has no live bit left, so it can be filled again as it is.
    void give_back(std::unique_ptr<Page> page) {
        if (spare_.size() < spare_pages) {
            spare_.push_back(std::move(page));
        }
    }

    std::vector<std::unique_ptr<Page>> pages_;
    std::vector<std::unique_ptr<Page>> spare_;
    std::uint64_t next_ = 0;
    std::uint64_t live_ = 0;
};

} // namespace heapfit
