// SPDX-License-Identifier: Apache-2.0
// A visitor of `follow`, fed stretch by stretch.
#include "heapfit/profile/stretch_peaks.hpp"

#include <algorithm>

#include "heapfit/error.hpp"

namespace heapfit {

struct StretchPeaks::Visitor {
    StretchPeaks &peaks;
    std::uint64_t stretch;
    Bytes live;
    Bytes highest;

    bool allocated(std::size_t, const Event &event, Bytes &size) {
        enter(event.size);
        size = event.size;
        return true;
    }

    bool resized(std::size_t, const Event &event, Bytes &size) {
        leave(size);
        enter(event.size);
        size = event.size;
        return true;
    }

    bool freed(std::size_t, const Event &, const Bytes &size) {
        leave(size);
        return true;
    }

  private:
    [[nodiscard]] Octave &octave_of(Bytes size) const {
        return peaks.octaves_[static_cast<std::size_t>(std::bit_width(size))];
    }

    void enter(Bytes size) {
        live += size;
        highest = std::max(highest, live);
        Octave &octave = octave_of(size);
        octave.live += size;
        if (octave.live > octave.most || !octave.is_asked_for) {
            octave = {octave.live, octave.live, stretch, true};
        }
    }

    void leave(Bytes size) {
        live -= size;
        octave_of(size).live -= size;
    }
};

StretchPeaks::StretchPeaks(std::uint64_t width) : width_(width) {
    if (width == 0) {
        throw Error("a stretch has one event at least");
    }
}

void StretchPeaks::feed(std::span<const Event> events) {
    while (!events.empty()) {
        const std::uint64_t stretch = events_ / width_;
        const std::uint64_t room = width_ - events_ % width_;
        const auto part = events.first(std::min<std::uint64_t>(events.size(), room));
        if (stretch == highest_.size()) {
            highest_.push_back(live_);
        }
        Visitor visitor{*this, stretch, live_, highest_.back()};
        follow_all(part, events_, sizes_, visitor);
        live_ = visitor.live;
        highest_.back() = visitor.highest;
        events_ += part.size();
        events = events.subspan(part.size());
    }
}

std::vector<std::uint64_t> StretchPeaks::octave_peaks() const {
    std::vector<std::uint64_t> stretches;
    for (const Octave &octave : octaves_) {
        if (octave.is_asked_for) {
            stretches.push_back(octave.stretch);
        }
    }
    return stretches;
}

} // namespace heapfit
