// SPDX-License-Identifier: Apache-2.0
// Releases wait in a heap by their time; what is due before the next arrival comes first.
#include <algorithm>
#include <queue>
#include <utility>

#include "heapfit/error.hpp"
#include "heapfit/random.hpp"
#include "workload/laws.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t ns_per_s = 1'000'000'000;
constexpr std::uint64_t ns_per_us = 1000;

class Arrivals {
  public:
    Arrivals(const PoissonHolding &holding, std::uint64_t seed) : holding_(holding), random_(seed) {
        await_arrival();
    }

    std::optional<Request> operator()() {
        if (done_ == holding_.events) {
            return std::nullopt;
        }
        done_++;
        if (!held_.empty() && held_.top().first <= next_ns_) {
            const auto [time_ns, id] = held_.top();
            held_.pop();
            return Request{.op = Op::free, .id = id, .time = time_ns / ns_per_us};
        }
        return arrival();
    }

  private:
    using Release = std::pair<std::uint64_t, std::uint64_t>; // ns, id

    void await_arrival() { next_ns_ += random_.exponential(ns_per_s / holding_.rate); }

    Request arrival() {
        const Bytes range = holding_.largest - holding_.smallest + 1;
        const Request request{.op = Op::alloc,
                              .id = arrived_++,
                              .size = holding_.smallest + random_.below(range),
                              .time = next_ns_ / ns_per_us};
        held_.emplace(next_ns_ + random_.exponential(holding_.holding_us * ns_per_us), request.id);
        await_arrival();
        return request;
    }

    PoissonHolding holding_;
    Philox random_;
    std::priority_queue<Release, std::vector<Release>, std::greater<>> held_;
    std::uint64_t next_ns_ = 0; // of the next arrival
    std::uint64_t done_ = 0;
    std::uint64_t arrived_ = 0;
};

} // namespace

WorkloadLaw poisson_holding(const PoissonHolding &holding, std::uint64_t seed) {
    if (holding.smallest > holding.largest) {
        throw Error("workload: smallest must not be above largest");
    }
    return Arrivals(holding, seed);
}

} // namespace heapfit
