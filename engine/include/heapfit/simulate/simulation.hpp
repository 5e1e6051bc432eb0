// SPDX-License-Identifier: Apache-2.0
// Simulates a heap under offered traffic: requests arrive, are served or refused, and those served
// are freed when their time is over. The heap is a real one, any allocator's.
//
//   TrafficSource --> request --> alloc --- NULL --> refused, lost
//                                   |
//                                   v
//                      departures, earliest first --> free
//
// What is due at or before an arrival leaves before it; of what leaves at the same time, what came
// first. Memory depends on how many blocks are live at once, not on how many requests there are.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "heapfit/replay/host_heap.hpp"
#include "heapfit/workload/traffic.hpp"

namespace heapfit {

// Sizes counted in two bins an octave: upper bounds 1, 2, 3, 4, 6, 8, 12, 16, 24, ... bytes; 64
// bins reach 2^32, and what is larger counts in the last.
inline constexpr std::size_t size_bins = 64;
using SizeCounts = std::array<std::uint64_t, size_bins>;

// From 2^k, itself not in it, to 3/2 2^k reaches bin 2 k, from there to 2^(k+1) bin 2 k + 1.
[[nodiscard]] inline std::size_t size_bin(Bytes size) {
    if (size <= 2) {
        return size == 2;
    }
    const Bytes below = size - 1;
    const auto octave = static_cast<std::size_t>(63 ^ std::countl_zero(below));
    return std::min(size_bins - 1, 2 * octave + (below >> (octave - 1) & 1));
}

[[nodiscard]] Bytes size_bin_bound(std::size_t bin);

// Sums over a window: from the last event before `reset_counts`, or the start, to the last arrival.
// All are exact, but for those of samples. "Live" is what was asked for and is not freed yet;
// "used" is what the caller may use of live blocks.
struct SimulationCounts {
    Nanoseconds time_ns = 0;      // length of the window
    std::uint64_t events = 0;     // arrivals and departures
    std::uint64_t requests = 0;   // offered
    std::uint64_t admitted = 0;   // served; the others were refused
    Bytes requested_bytes = 0;    // of all requests
    Bytes admitted_bytes = 0;     // of those served
    double live_block_ns = 0;     // integral over time of the number of live blocks
    double live_byte_ns = 0;      // of live bytes
    double used_byte_ns = 0;      // of used bytes; less live_byte_ns: of internal fragmentation
    std::uint64_t block_peak = 0; // most blocks live at once
    Bytes live_peak = 0;          // most bytes live at once
    Bytes internal_peak = 0;      // most used bytes at once that nobody had asked for
    Bytes footprint = 0;          // bytes of region needed so far, since the very start

    // External fragmentation is seen by walking the heap at random times, independent of what the
    // heap does then: after an exponentially distributed time, whose mean is taken anew after each
    // walk from the past alone: as long as 1,024 requests, and at least two a block walked, have
    // taken on average. Each sample weighs by the mean it was drawn with. So both sums are unbiased
    // estimates of integrals over the window, and external_byte_ns / sampled_ns is the average over
    // time; the peak is that of the samples, and the true one may be higher.
    std::uint64_t samples = 0;
    double sampled_ns = 0;       // of 1: an estimate of time_ns
    double external_byte_ns = 0; // of free bytes that are not in the largest free block
    Bytes external_peak = 0;

    SizeCounts offered_by_size{}; // requests in each bin
    SizeCounts refused_by_size{};
};

class Simulation {
  public:
    Simulation(HostHeap heap, const Traffic &traffic, std::uint64_t seed);
    ~Simulation();
    Simulation(Simulation &&) noexcept;
    Simulation &operator=(Simulation &&) noexcept;

    // Offers so many requests more; returns how many there were: fewer when a recording ends.
    // Throws Error if the clock reaches 2^63 ns.
    std::uint64_t run(std::uint64_t requests);

    // Begins a new window; what is live stays so.
    void reset_counts();

    [[nodiscard]] SimulationCounts counts() const;

    [[nodiscard]] std::uint64_t live_blocks() const;
    [[nodiscard]] Bytes live() const;
    [[nodiscard]] const HostHeap &heap() const;

  private:
    class Loop;
    std::unique_ptr<Loop> loop_;
};

// The same loop with no heap, to compare speeds with: serves what arrives while fewer than
// `most_live` requests are held. Returns how many of the requests were served.
[[nodiscard]] std::uint64_t simulate_without_heap(const Traffic &traffic, std::uint64_t seed,
                                                  std::uint64_t requests, std::uint64_t most_live);

} // namespace heapfit
