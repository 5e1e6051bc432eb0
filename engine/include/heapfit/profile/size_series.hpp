// SPDX-License-Identifier: Apache-2.0
// P_i(t), the live blocks of chosen sizes, over a trace: lowest and highest of each bucket of
// events.
#pragma once

#include <span>
#include <vector>

#include "heapfit/trace/follow.hpp"
#include "heapfit/trace/sampling.hpp"

namespace heapfit {

struct SizeSeriesResult {
    std::uint64_t bucket_width;                // events a bucket
    std::vector<std::vector<Extremes>> blocks; // of each size as given, of each bucket in order
};

class SizeSeries {
  public:
    // `samples` is how many buckets there shall be at least. Throws Error if two sizes are equal.
    SizeSeries(std::span<const Bytes> sizes, std::size_t samples);

    // Throws Error if an event breaks the rules of a trace.
    void feed(std::span<const Event> events);

    [[nodiscard]] SizeSeriesResult result() const;

  private:
    struct Object {
        std::uint32_t rank; // of the size in sizes_; sizes_.size() for any other
    };

    struct Line {
        Bytes size;
        std::size_t index; // as given
        std::uint64_t live = 0;
        Extremes bucket{0, 0};
        std::vector<Extremes> series{};
    };

    struct Visitor;

    void close_bucket();

    std::vector<Line> sizes_; // ascending
    ObjectTable<Object> objects_;
    std::uint64_t events_ = 0;
    Buckets buckets_;
};

} // namespace heapfit
