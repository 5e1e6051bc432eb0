// SPDX-License-Identifier: Apache-2.0
// Sizes and lifetimes drawn from statistics. Time counts allocations.
#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

#include "heapfit/error.hpp"
#include "heapfit/random.hpp"
#include "workload/laws.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t long_factor = 10;

class Program {
  public:
    Program(const ProgramModel &model, std::uint64_t seed)
        : model_(model), live_(model.sizes.size()), random_(seed) {
        draw();
    }

    std::optional<Request> operator()() {
        if (done_ == model_.events) {
            return std::nullopt;
        }
        done_++;
        Live &due = *std::ranges::min_element(live_, {}, soonest);
        if (soonest(due) <= allocated_) {
            return released(due);
        }
        return live_[size_].size() >= model_.limit ? released(live_[size_]) : allocation();
    }

  private:
    using Release = std::pair<std::uint64_t, std::uint64_t>; // when it is due, id
    using Live = std::priority_queue<Release, std::vector<Release>, std::greater<>>;

    static std::uint64_t soonest(const Live &live) {
        return live.empty() ? UINT64_MAX : live.top().first;
    }

    static Request released(Live &live) {
        const std::uint64_t id = live.top().second;
        live.pop();
        return {.op = Op::free, .id = id};
    }

    Request allocation() {
        const std::uint64_t id = allocated_++;
        const Bytes size = model_.sizes[size_];
        const Bytes asked = model_.spreads_sizes ? random_.exponential(size) : size;
        live_[size_].emplace(id + lifetime(), id);
        draw();
        return {.op = Op::alloc, .id = id, .size = std::max<Bytes>(asked, 1)};
    }

    std::uint64_t lifetime() {
        const bool is_long = random_.below(100) < model_.long_percent;
        return random_.exponential(model_.lives[size_] * (is_long ? long_factor : 1));
    }

    // The next size; the first is drawn as if there had been another.
    void draw() {
        if (allocated_ > 0 && random_.below(100) < model_.repeat_percent) {
            return;
        }
        const std::uint64_t sum =
            std::accumulate(model_.weights.begin(), model_.weights.end(), std::uint64_t{0});
        std::uint64_t left = random_.below(sum);
        std::size_t i = 0;
        for (; left >= weight(i); i++) {
            left -= weight(i);
        }
        size_ = i;
    }

    std::uint64_t weight(std::size_t size) const {
        const std::uint64_t shift = model_.phase == 0 ? 0 : allocated_ / model_.phase;
        return model_.weights[(size + shift) % model_.weights.size()];
    }

    ProgramModel model_;
    std::vector<Live> live_; // by size
    Philox random_;
    std::size_t size_ = 0; // of the next allocation, as an index
    std::uint64_t done_ = 0;
    std::uint64_t allocated_ = 0;
};

} // namespace

WorkloadLaw program_model(const ProgramModel &model, std::uint64_t seed) {
    if (std::ranges::all_of(model.weights, [](std::uint64_t weight) { return weight == 0; })) {
        throw Error("workload: every weight is 0: some size must be drawn");
    }
    return Program(model, seed);
}

} // namespace heapfit
