// SPDX-License-Identifier: Apache-2.0
// Packets in bursts through a server: an id is the order of arrival, which is that of release.
#include <algorithm>
#include <deque>

#include "heapfit/error.hpp"
#include "heapfit/random.hpp"
#include "heapfit/workload/slot_walk.hpp"
#include "workload/laws.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::uint64_t ns_per_us = 1000;

class Mix {
  public:
    Mix(const PacketMix &mix, std::uint64_t seed)
        : mix_(mix), by_magnitude_(mix.ack_size + 1, mix.mtu_size - 1), random_(seed) {
        await_arrival();
    }

    std::optional<Request> operator()() {
        const bool is_over = arrived_ == mix_.packets;
        if (!queued_.empty() && (is_over || queued_.front() <= next_ns_)) {
            const std::uint64_t time_ns = queued_.front();
            queued_.pop_front();
            return Request{.op = Op::free, .id = released_++, .time = time_ns / ns_per_us};
        }
        return is_over ? std::nullopt : std::optional(arrival());
    }

  private:
    // A burst goes on as long as a draw of 1 in `burst` fails; then the next one is awaited.
    void await_arrival() {
        if (arrived_ == 0 || random_.below(mix_.burst) == 0) {
            next_ns_ += random_.exponential(ns_per_s * mix_.burst / mix_.rate);
        }
    }

    Request arrival() {
        const Request request{
            .op = Op::alloc, .id = arrived_++, .size = size(), .time = next_ns_ / ns_per_us};
        last_release_ns_ = std::max(last_release_ns_, next_ns_) + ns_per_s / mix_.served;
        queued_.push_back(last_release_ns_);
        await_arrival();
        return request;
    }

    Bytes size() {
        const std::uint64_t percent = random_.below(100);
        if (percent < mix_.ack_percent) {
            return mix_.ack_size;
        }
        if (percent < mix_.ack_percent + mix_.mtu_percent) {
            return mix_.mtu_size;
        }
        if (random_.below(100) < mix_.log_percent) {
            return by_magnitude_.draw(random_);
        }
        return mix_.ack_size + 1 + random_.below(mix_.mtu_size - mix_.ack_size - 1);
    }

    PacketMix mix_;
    SizeLaw by_magnitude_;
    Philox random_;
    std::deque<std::uint64_t> queued_; // times of release, in ns
    std::uint64_t next_ns_ = 0;        // of the next arrival
    std::uint64_t last_release_ns_ = 0;
    std::uint64_t arrived_ = 0;
    std::uint64_t released_ = 0;
};

} // namespace

WorkloadLaw packet_mix(const PacketMix &mix, std::uint64_t seed) {
    if (mix.ack_percent + mix.mtu_percent > 100) {
        throw Error("workload: ack_percent and mtu_percent are more than 100 together");
    }
    if (mix.mtu_size < mix.ack_size + 2) {
        throw Error("workload: mtu_size must be at least ack_size + 2: others lie between them");
    }
    return Mix(mix, seed);
}

} // namespace heapfit
