// SPDX-License-Identifier: Apache-2.0
// What a pass over a trace keeps of each live object, found by number in one indirection.
//
//   pages_   +---+---+---+---+     a page: 128 values, and which of them are live
//            | o | o | o | o |     nobody: a page all tables share, where no object is live; a page
//            +-|-+-|-+-|-+-|-+     whose objects are all dead was given back
//              v   `-.-'   v
//            page  nobody page     Memory follows the live objects, not the trace's length.
//
// Objects are numbered 0, 1, 2, ... in order of allocation and numbers are never reused
// (docs/evidence/schemas.md), so an object that is not live is dead if its number is below
// `next`, else not yet born.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "heapfit/event.hpp"

namespace heapfit {

template <typename Value> class ObjectTable {
    static constexpr std::size_t page_objects = 128; // few: one long-lived object pins little
    static constexpr std::size_t spare_pages = 64;   // kept, to be filled again while warm

    struct Page {
        std::uint32_t not_dead = page_objects; // objects that live or are not born
        std::array<bool, page_objects> is_live{};
        std::array<Value, page_objects> values;
    };

    // Never written to. With it in the place of a page that was given back, to look an object up
    // takes no branch more.
    inline static Page nobody{};

    struct Discard {
        void operator()(Page *page) const {
            if (page != &nobody) {
                delete page;
            }
        }
    };
    using PageOwner = std::unique_ptr<Page, Discard>;

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

    ObjectTable() = default;
    ObjectTable(ObjectTable &&) =
        default; // moves only: a copy of a long trace's state is a mistake
    ObjectTable &operator=(ObjectTable &&) = default;

    // The place of an object that is born now, its value to be filled in; null unless it is the
    // next one.
    [[nodiscard]] Place begin(ObjectId object) {
        if (object != next_) {
            return {};
        }
        const std::size_t index = object % page_objects;
        if (index == 0) [[unlikely]] {
            open_page();
        }
        next_++;
        youngest_->is_live[index] = true;
        return {youngest_, index};
    }

    // The place of a live object, else null.
    [[nodiscard]] Place find(ObjectId object) const {
        if (object >= next_) {
            return {};
        }
        const std::size_t index = object % page_objects;
        Page *const page = pages_[object / page_objects].get();
        return page->is_live[index] ? Place{page, index} : Place{};
    }

    // Ends the live object at `place`; its value is gone.
    void end(const Place &place, ObjectId object) {
        place.page_->is_live[place.index_] = false;
        if (--place.page_->not_dead == 0) [[unlikely]] {
            give_back(pages_[object / page_objects]);
        }
    }

    // Calls `tell` with the value of each live object, in order of their numbers. Takes time for
    // every page that there ever was.
    template <typename Tell> void for_each_live(const Tell &tell) const {
        for (std::size_t page = 0; page < pages_.size(); page++) {
            const std::uint64_t born =
                std::min<std::uint64_t>(next_ - page * page_objects, page_objects);
            for (std::size_t index = 0; index < born; index++) {
                if (pages_[page]->is_live[index]) {
                    tell(std::as_const(pages_[page]->values[index]));
                }
            }
        }
    }

    // The same once more: as many pages as have live objects.
    [[nodiscard]] ObjectTable copied() const {
        ObjectTable copy;
        copy.next_ = next_;
        copy.pages_.reserve(pages_.size());
        for (const PageOwner &page : pages_) {
            copy.pages_.emplace_back(page.get() == &nobody ? &nobody : new Page(*page));
        }
        copy.youngest_ = pages_.empty() ? nullptr : copy.pages_.back().get();
        return copy;
    }

    // The number that the next allocation must have. 64 bits: one past the last ObjectId is
    // possible.
    [[nodiscard]] std::uint64_t next() const { return next_; }

  private:
    // Both out of the loop over events, which has no register to spare for them.
    [[gnu::noinline]] void open_page() {
        if (spare_.empty()) {
            pages_.emplace_back(new Page);
        } else {
            pages_.push_back(std::move(spare_.back()));
            spare_.pop_back();
        }
        youngest_ = pages_.back().get();
    }

    // Keeps a page whose objects are all dead to be filled again, or frees it.
    [[gnu::noinline]] void give_back(PageOwner &place) {
        PageOwner page = std::exchange(place, PageOwner(&nobody));
        if (spare_.size() < spare_pages) {
            page->not_dead = page_objects;
            spare_.push_back(std::move(page));
        }
    }

    std::vector<PageOwner> pages_;
    std::vector<PageOwner> spare_;
    Page *youngest_ = nullptr; // of the object born last
    std::uint64_t next_ = 0;
};

} // namespace heapfit
