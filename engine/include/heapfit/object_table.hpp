// SPDX-License-Identifier: Apache-2.0
// What a pass over a trace keeps of each live object, found by the object's number in one
// indirection.
//
//   pages_   +---+---+---+---+      a page: 1,024 values, and which of them are live
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
    static constexpr std::size_t page_objects = 1024;
    static constexpr std::size_t spare_pages = 16; // kept to be filled again while they are warm

    struct Page {
        std::uint32_t live = 0;
        std::array<bool, page_objects> is_live{};
        std::array<Value, page_objects> values{};
    };

  public:
    // A live object's place; null if there is no such object. Valid until the object's end.
    class Place {
      public:
        explicit operator bool() const { return page_ != nullptr; }
        [[nodiscard]] Value &value() const { return page_->values[index_]; }

      private:
        friend class ObjectTable;
        Place() = default;
        Place(Page *page, std::size_t index) : page_(page), index_(index) {}
        Page *page_ = nullptr;
        std::size_t index_ = 0;
    };

    ObjectTable() { pages_.push_back(take_page()); }

    // The place of an object that begins now (null unless it is the next one), or that is live
    // (null if it is not). No branch on `begins`: which of the two it is, is a coin flip in many
    // traces.
    [[nodiscard]] Place find(ObjectId object, bool begins) const {
        if (object > next_) {
            return {};
        }
        const std::size_t index = object % page_objects;
        Page *const page = pages_[object / page_objects].get();
        if (page == nullptr) {
            return {};
        }
        const bool is_wrong = (page->is_live[index] == begins) | (begins & (object != next_));
        return is_wrong ? Place{} : Place{page, index};
    }

    // Begins or ends the object that `find` gave this place.
    void turn(const Place &place, ObjectId object, bool begins) {
        Page &page = *place.page_;
        page.is_live[place.index_] = begins;
        page.live += begins ? 1u : ~0u;
        next_ += begins;
        if (next_ == pages_.size() * page_objects) {
            pages_.push_back(take_page());
        }
        if (page.live == 0) {
            give_back_if_full(object / page_objects);
        }
    }

    // The number that the next allocation must have. 64 bits: one past the last ObjectId is
    // possible.
    [[nodiscard]] std::uint64_t next() const { return next_; }

  private:
    std::unique_ptr<Page> take_page() {
        if (spare_.empty()) {
            return std::make_unique<Page>();
        }
        std::unique_ptr<Page> page = std::move(spare_.back());
        spare_.pop_back();
        return page;
    }

    // Gives a page without a live object back, unless objects will still be born in it. It holds no
    // mark of the dead, so it can be filled again as it is.
    void give_back_if_full(std::size_t number) {
        if (next_ / page_objects == number) {
            return;
        }
        std::unique_ptr<Page> page = std::move(pages_[number]);
        if (spare_.size() < spare_pages) {
            spare_.push_back(std::move(page));
        }
    }

    std::vector<std::unique_ptr<Page>> pages_;
    std::vector<std::unique_ptr<Page>> spare_;
    std::uint64_t next_ = 0;
};

} // namespace heapfit
