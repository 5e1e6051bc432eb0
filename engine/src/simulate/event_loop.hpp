// SPDX-License-Identifier: Apache-2.0
// The loop behind Simulation, for anything that serves requests:
//
//   struct Server {
//       void *serve(Bytes size, Bytes &usable);  // nullptr: refused
//       void release(void *block);
//       WalkedHeap walk();                       // what a sample sees
//   };
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "heapfit/compiler.hpp"
#include "heapfit/simulate/simulation.hpp"
#include "simulate/departures.hpp"

namespace heapfit {

struct WalkedHeap {
    Bytes external;       // fragmentation
    std::uint64_t blocks; // free and used
};

// The integral of a number of bytes or blocks over time. 2^63 ns of 2^47 bytes each fit.
class Integral {
  public:
    void add(std::uint64_t value, Nanoseconds time_ns) { sum_ += Wide{value} * time_ns; }
    [[nodiscard]] double value() const { return wide_to_double(sum_); }

  private:
    Wide sum_ = 0;
};

// A request that was served.
struct Held {
    void *block; // nullptr once it is over
    Bytes size;
    Bytes usable;
    Nanoseconds since_ns; // or the begin of the window
};

// Over the time that requests were held. Each adds once it is over, which takes fewer products than
// to add what lives at each event.
struct HeldIntegrals {
    Integral block_ns, size_ns, usable_ns;

    void add(const Held &held, Nanoseconds until_ns) {
        const Nanoseconds held_ns = until_ns - held.since_ns;
        block_ns.add(1, held_ns);
        size_ns.add(held.size, held_ns);
        usable_ns.add(held.usable, held_ns);
    }
};

// When to walk the heap, as SimulationCounts tells.
class SampleClock {
  public:
    explicit SampleClock(std::uint64_t seed) : random_(seed, 4) {}

    // At the first arrival; nothing is known of the traffic yet, and the mean grows as it passes.
    void begin(Nanoseconds time_ns) {
        if (mean_ns_ == 0) {
            first_ns_ = next_ns_ = time_ns;
            plan(1, 0);
        }
    }

    [[nodiscard]] bool is_due(Nanoseconds time_ns) const { return next_ns_ <= time_ns; }
    [[nodiscard]] Nanoseconds mean_ns() const { return mean_ns_; }

    // The sample after the one that was due, which walked so many blocks; so many requests, 1 or
    // more, came until then.
    void plan(std::uint64_t requests, std::uint64_t blocks) {
        const auto past_ns = static_cast<double>(next_ns_ - first_ns_);
        const auto wanted = static_cast<double>(std::max<std::uint64_t>(1024, 2 * blocks));
        const double mean_ns = past_ns / static_cast<double>(requests) * wanted;
        mean_ns_ = static_cast<Nanoseconds>(std::clamp(mean_ns, 1.0, 0x1p56));
        next_ns_ += random_.exponential(mean_ns_);
    }

  private:
    Philox random_;
    Nanoseconds first_ns_ = 0;
    Nanoseconds mean_ns_ = 0;
    Nanoseconds next_ns_ = held_forever;
};

template <class Server> class EventLoop {
  public:
    EventLoop(Server server, const Traffic &traffic, std::uint64_t seed)
        : server_(std::move(server)), source_(traffic, seed), clock_(seed) {}

    std::uint64_t run(std::uint64_t requests) {
        std::uint64_t done = 0;
        OfferedRequest request;
        for (; done < requests && source_.next(request); ++done) {
            clock_.begin(request.time_ns);
            release_until(request.time_ns);
            advance(request.time_ns);
            offer(request);
        }
        return done;
    }

    void reset_counts() {
        counts_ = {};
        window_from_ns_ = now_ns_;
        live_blocks_before_ = live_blocks_;
        past_ = {};
        for (Held &held : held_) {
            held.since_ns = now_ns_;
        }
        raise_peaks();
    }

    [[nodiscard]] SimulationCounts counts() const {
        SimulationCounts counts = counts_;
        counts.time_ns = now_ns_ - window_from_ns_;
        counts.events = counts.requests + live_blocks_before_ + counts.admitted - live_blocks_;
        HeldIntegrals sums = past_;
        for (const Held &held : held_) {
            if (held.block != nullptr) {
                sums.add(held, now_ns_);
            }
        }
        counts.live_block_ns = sums.block_ns.value();
        counts.live_byte_ns = sums.size_ns.value();
        counts.used_byte_ns = sums.usable_ns.value();
        return counts;
    }

    [[nodiscard]] const Server &server() const { return server_; }
    [[nodiscard]] std::uint64_t live_blocks() const { return live_blocks_; }
    [[nodiscard]] Bytes live() const { return live_; }

  private:
    void advance(Nanoseconds time_ns) {
        while (clock_.is_due(time_ns))
            [[unlikely]] {
                take_sample();
            }
        now_ns_ = time_ns;
    }

    void take_sample() {
        const WalkedHeap walked = server_.walk();
        const auto weight_ns = static_cast<double>(clock_.mean_ns());
        counts_.samples++;
        counts_.sampled_ns += weight_ns;
        counts_.external_byte_ns += weight_ns * static_cast<double>(walked.external);
        counts_.external_peak = std::max(counts_.external_peak, walked.external);
        clock_.plan(std::max<std::uint64_t>(offered_, 1), walked.blocks);
    }

    void release_until(Nanoseconds time_ns) {
        Departure due;
        while (departures_.take_due(time_ns, due)) {
            advance(due.time_ns);
            Held &held = held_[due.slot];
            server_.release(held.block, held.size);
            held.block = nullptr;
            past_.add(held, due.time_ns);
            live_blocks_--;
            live_ -= held.size;
            used_ -= held.usable;
        }
    }

    void offer(const OfferedRequest &request) {
        const std::size_t bin = size_bin(request.size);
        offered_++;
        counts_.requests++;
        counts_.requested_bytes += request.size;
        counts_.offered_by_size[bin]++;
        Bytes usable = 0;
        void *const block = server_.serve(request.size, usable);
        if (block == nullptr) {
            counts_.refused_by_size[bin]++;
            return;
        }
        counts_.admitted++;
        counts_.admitted_bytes += request.size;
        live_blocks_++;
        live_ += request.size;
        used_ += usable;
        keep(departures_.schedule(source_.departure(request)),
             {block, request.size, usable, request.time_ns});
        raise_peaks();
    }

    void keep(std::uint32_t slot, const Held &held) {
        if (slot == held_.size()) [[unlikely]] {
            held_.push_back(held);
        } else {
            held_[slot] = held;
        }
    }

    // Few requests raise one.
    void raise_peaks() {
        if (live_blocks_ > counts_.block_peak) [[unlikely]] {
            counts_.block_peak = live_blocks_;
        }
        if (live_ > counts_.live_peak) [[unlikely]] {
            counts_.live_peak = live_;
        }
        if (used_ - live_ > counts_.internal_peak) [[unlikely]] {
            counts_.internal_peak = used_ - live_;
        }
    }

    Server server_;
    TrafficSource source_;
    SampleClock clock_;
    Departures departures_;
    std::vector<Held> held_;        // by slot
    std::uint64_t offered_ = 0;     // since the start
    std::uint64_t live_blocks_ = 0; // not beside live_: added as a pair they take more
    Nanoseconds now_ns_ = 0;
    Bytes live_ = 0;
    Nanoseconds window_from_ns_ = 0;
    Bytes used_ = 0;
    std::uint64_t live_blocks_before_ = 0; // the window
    HeldIntegrals past_;                   // of the window: of requests that are over
    SimulationCounts counts_;              // but events and integrals
};

} // namespace heapfit
