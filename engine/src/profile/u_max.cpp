// SPDX-License-Identifier: Apache-2.0
#include "heapfit/profile/u_max.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "heapfit/profile/profile.hpp"
#include "heapfit/trace/follow.hpp"

namespace heapfit {

namespace {

// An ObjectTable of sizes that gives nothing back: a flat array by object.
class FlatSizes {
  public:
    class Place {
      public:
        explicit operator bool() const { return size_ != nullptr; }
        [[nodiscard]] Bytes &value() const { return *size_; }

      private:
        friend class FlatSizes;
        explicit Place(Bytes *size) : size_(size) {}
        Bytes *size_;
    };

    explicit FlatSizes(std::size_t most) : sizes_(std::make_unique_for_overwrite<Bytes[]>(most)) {}

    [[nodiscard]] Place begin(ObjectId object) {
        return Place(object == next_ ? &sizes_[next_++] : nullptr);
    }

    [[nodiscard]] Place find(ObjectId object) {
        return Place(object < next_ && sizes_[object] != dead ? &sizes_[object] : nullptr);
    }

    void end(const Place &place, ObjectId) { place.value() = dead; }

    [[nodiscard]] std::uint64_t next() const { return next_; }

  private:
    static constexpr Bytes dead = std::numeric_limits<Bytes>::max(); // no request is as large
    std::unique_ptr<Bytes[]> sizes_;                                 // of the objects before next_
    std::uint64_t next_ = 0;
};

struct LiveBytes {
    Bytes live = 0;
    Bytes peak = 0;

    bool allocated(std::size_t, const Event &event, Bytes &size) {
        size = event.size;
        live += size;
        peak = std::max(peak, live);
        return live < live_bytes_limit;
    }

    bool resized(std::size_t i, const Event &event, Bytes &size) {
        live -= size;
        return allocated(i, event, size);
    }

    bool freed(std::size_t, const Event &, const Bytes &size) {
        live -= size;
        return true;
    }
};

} // namespace

Bytes u_max_of(std::span<const Event> events) {
    FlatSizes sizes(events.size());
    LiveBytes visitor;
    const Followed followed = follow(events, sizes, visitor);
    if (followed.is_bad) {
        throw_bad_event(followed.count, events[followed.count], sizes.next());
    }
    if (followed.count < events.size()) {
        throw_too_many_live_bytes(followed.count);
    }
    return visitor.peak;
}

} // namespace heapfit
