// SPDX-License-Identifier: Apache-2.0
// Writes down what each event changes.
#include "heapfit/profile/live_changes.hpp"

#include <utility>

namespace heapfit {

struct LiveChanges::Visitor {
    LiveChanges &changes;
    LiveChangeColumns rows = {};

    bool allocated(std::size_t i, const Event &event, Object &object) {
        enter(event.size, object);
        write(i, object);
        return true;
    }

    bool freed(std::size_t i, const Event &, const Object &object) {
        leave(object);
        write(i, object);
        return true;
    }

    bool resized(std::size_t i, const Event &event, Object &object) {
        const Object old = object;
        leave(old);
        enter(event.size, object);
        if (old.number != object.number) {
            write(i, old);
        }
        write(i, object);
        return true;
    }

  private:
    void enter(Bytes size, Object &object) {
        object = {size, changes.sizes_.add(size)};
        changes.live_.resize(changes.sizes_.sizes().size());
        changes.live_[object.number]++;
        changes.live_bytes_ += size;
    }

    void leave(const Object &object) {
        changes.live_[object.number]--;
        changes.live_bytes_ -= object.size;
    }

    void write(std::size_t i, const Object &object) {
        rows.events.push_back(changes.events_ + i);
        rows.live_bytes.push_back(changes.live_bytes_);
        rows.sizes.push_back(changes.sizes_.sizes()[object.number]);
        rows.live_blocks.push_back(changes.live_[object.number]);
    }
};

LiveChangeColumns LiveChanges::feed(std::span<const Event> events) {
    Visitor visitor{*this};
    follow_all(events, events_, objects_, visitor);
    events_ += events.size();
    return std::move(visitor.rows);
}

} // namespace heapfit
