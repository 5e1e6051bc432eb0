// SPDX-License-Identifier: Apache-2.0
#include "heapfit/workload/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "heapfit/compiler.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr Bytes largest_size = Bytes{1} << 31;
constexpr double slowest_rate = 1e-6, fastest_rate = 1e15;
constexpr double largest_sigma = 10;
constexpr int tick_bits = 32; // of a FifoService

[[noreturn]] void refuse(std::string_view key, const std::string &problem) {
    throw Error(std::string(key) + ": " + problem);
}

void require_mean(std::string_view key, Nanoseconds mean_ns) {
    if (mean_ns < 1 || mean_ns > longest_mean) {
        refuse(key, std::to_string(mean_ns) + " ns is out of range (1 ns to 1e15 ns)");
    }
}

void require_holding(std::string_view key, Nanoseconds ns) {
    if (ns > longest_mean) {
        refuse(key, std::to_string(ns) + " ns is out of range (at most 1e15 ns)");
    }
}

void require_size(std::string_view key, Bytes size) {
    if (size < 1 || size > largest_size) {
        refuse(key, std::to_string(size) + " bytes are out of range (1 to 2^31)");
    }
}

void require_equal(std::string_view key, std::size_t count, std::size_t other) {
    if (count != other) {
        refuse(key, std::to_string(count) + " of them for " + std::to_string(other));
    }
}

void require_rate(std::string_view key, double rate) {
    if (!(rate >= slowest_rate && rate <= fastest_rate)) {
        refuse(key, std::to_string(rate) + " is out of range (1e-6 to 1e15)");
    }
}

// Of one byte or packet, in 2^-32 ns.
Wide ticks_each(double rate) {
    return wide_from_double(1e9 / rate * 0x1p32 + 0.5);
}

// States from which some state with arrivals can be reached.
std::vector<bool> reaching_arrivals(const std::vector<MarkovModulated::State> &states,
                                    const std::vector<std::vector<double>> &weights) {
    std::vector<bool> reaches;
    for (const auto &state : states) {
        reaches.push_back(state.interval_mean_ns != 0);
    }
    for (std::size_t round = 0; round < states.size(); ++round) {
        for (std::size_t from = 0; from < states.size(); ++from) {
            for (std::size_t to = 0; to < states.size(); ++to) {
                reaches[from] = reaches[from] || (weights[from][to] > 0 && reaches[to]);
            }
        }
    }
    return reaches;
}

} // namespace

Poisson::Poisson(Nanoseconds mean_ns) : mean_ns_(mean_ns) {
    require_mean("Poisson: mean_ns", mean_ns);
}

Periodic::Periodic(Nanoseconds interval_ns) : interval_ns_(interval_ns) {
    require_mean("Periodic: interval_ns", interval_ns);
}

MarkovModulated::MarkovModulated(std::vector<State> states,
                                 const std::vector<std::vector<double>> &weights)
    : states_(std::move(states)) {
    require_equal("MarkovModulated: weights", weights.size(), states_.size());
    for (const auto &row : weights) {
        require_equal("MarkovModulated: weights", row.size(), states_.size());
        followers_.emplace_back(row, "MarkovModulated: weights");
    }
    for (const State &state : states_) {
        require_mean("MarkovModulated: stay_mean_ns", state.stay_mean_ns);
        require_holding("MarkovModulated: interval_mean_ns", state.interval_mean_ns);
    }
    if (states_.empty() || !std::ranges::all_of(reaching_arrivals(states_, weights),
                                                [](bool reaches) { return reaches; })) {
        refuse("MarkovModulated: interval_mean_ns",
               "from some state no state with arrivals can be reached (0 means none arrive)");
    }
}

void MarkovModulated::enter(std::size_t state, Philox &random) {
    state_ = state;
    left_ns_ = random.exponential(states_[state].stay_mean_ns);
}

// That no request arrived so far in a state tells nothing about when one will: what a stay is too
// short for is drawn again in the next.
Nanoseconds MarkovModulated::next(Philox &random) {
    if (!has_begun_) {
        has_begun_ = true;
        enter(0, random);
    }
    for (Nanoseconds passed = 0; passed < time_end_ns;) {
        const Nanoseconds mean = states_[state_].interval_mean_ns;
        const Nanoseconds interval = mean == 0 ? held_forever : random.exponential(mean);
        if (interval <= left_ns_) {
            left_ns_ -= interval;
            return passed + interval;
        }
        passed = std::min(passed + left_ns_, time_end_ns);
        enter(followers_[state_].draw(random), random);
    }
    return time_end_ns;
}

OnOff::OnOff(Nanoseconds on_mean_ns, Nanoseconds off_mean_ns, Nanoseconds interval_mean_ns)
    : states_([=] {
          require_mean("OnOff: on_mean_ns", on_mean_ns);
          require_mean("OnOff: off_mean_ns", off_mean_ns);
          require_mean("OnOff: interval_mean_ns", interval_mean_ns);
          return MarkovModulated({{interval_mean_ns, on_mean_ns}, {0, off_mean_ns}},
                                 {{0, 1}, {1, 0}});
      }()) {}

RecordedArrivals::RecordedArrivals(std::vector<Nanoseconds> time_ns, std::vector<Bytes> size,
                                   std::vector<Nanoseconds> holding_ns) {
    require_equal("RecordedArrivals: size", size.size(), time_ns.size());
    if (!holding_ns.empty()) {
        require_equal("RecordedArrivals: holding_ns", holding_ns.size(), time_ns.size());
    }
    const auto falls = std::ranges::adjacent_find(time_ns, std::ranges::greater{});
    if (falls != time_ns.end()) {
        refuse("RecordedArrivals: time_ns", "entry " + std::to_string(falls - time_ns.begin() + 1) +
                                                " is below its predecessor");
    }
    if (time_ns.empty() || time_ns.back() >= time_end_ns) {
        refuse("RecordedArrivals: time_ns", "there must be at least one, and all below 2^63 ns");
    }
    recording_ = std::make_shared<const Recording>(
        Recording{std::move(time_ns), std::move(size), std::move(holding_ns)});
}

UniformSize::UniformSize(Bytes least, Bytes most) : least_(least), range_(most - least + 1) {
    require_size("UniformSize: least", least);
    require_size("UniformSize: most", most);
    if (least > most) {
        refuse("UniformSize: least",
               std::to_string(least) + " is above most " + std::to_string(most));
    }
}

BimodalSize::BimodalSize(Bytes ack_size, std::uint64_t ack_percent, Bytes mtu_size,
                         std::uint64_t mtu_percent)
    : ack_size_(ack_size), mtu_size_(mtu_size), ack_below_(ack_percent),
      mtu_below_(ack_percent + mtu_percent) {
    require_size("BimodalSize: ack_size", ack_size);
    require_size("BimodalSize: mtu_size", mtu_size);
    if (ack_percent > 100 || mtu_percent > 100 || mtu_below_ > 100) {
        refuse("BimodalSize: ack_percent", "with mtu_percent it is more than 100");
    }
    if (mtu_size < ack_size + 2) {
        refuse("BimodalSize: mtu_size", "it must be at least ack_size + 2: others lie between");
    }
}

Bytes BimodalSize::draw(Philox &random) {
    const std::uint64_t percent = random.below(100);
    if (percent < ack_below_) {
        return ack_size_;
    }
    if (percent < mtu_below_) {
        return mtu_size_;
    }
    return ack_size_ + 1 + random.below(mtu_size_ - ack_size_ - 1);
}

EmpiricalSize::EmpiricalSize(std::vector<Bytes> size, const std::vector<double> &weight)
    : size_(std::move(size)), table_(weight, "EmpiricalSize: weight") {
    require_equal("EmpiricalSize: weight", weight.size(), size_.size());
    for (const Bytes own : size_) {
        require_size("EmpiricalSize: size", own);
    }
}

ListedSizes::ListedSizes(std::vector<Bytes> size) : size_(std::move(size)) {
    if (size_.empty()) {
        refuse("ListedSizes: size", "there must be at least one");
    }
    for (const Bytes own : size_) {
        require_size("ListedSizes: size", own);
    }
}

ExponentialHolding::ExponentialHolding(Nanoseconds mean_ns) : mean_ns_(mean_ns) {
    require_mean("ExponentialHolding: mean_ns", mean_ns);
}

FixedHolding::FixedHolding(Nanoseconds ns) : ns_(ns) {
    require_holding("FixedHolding: ns", ns);
}

UniformHolding::UniformHolding(Nanoseconds least_ns, Nanoseconds most_ns)
    : least_ns_(least_ns), range_(most_ns - least_ns + 1) {
    require_holding("UniformHolding: most_ns", most_ns);
    if (least_ns > most_ns) {
        refuse("UniformHolding: least_ns",
               std::to_string(least_ns) + " is above most_ns " + std::to_string(most_ns));
    }
}

LognormalHolding::LognormalHolding(Nanoseconds mean_ns, double sigma)
    : mean_ns_(static_cast<double>(mean_ns)), sigma_(sigma) {
    require_mean("LognormalHolding: mean_ns", mean_ns);
    if (!(sigma >= 0 && sigma <= largest_sigma)) {
        refuse("LognormalHolding: sigma", std::to_string(sigma) + " is out of range (0 to 10)");
    }
}

// The normal number is below 9.5 by its construction, so the exponent is at most 45.
Nanoseconds LognormalHolding::draw(Philox &random) {
    const double ns = mean_ns_ * exponential_of(sigma_ * random.normal() - sigma_ * sigma_ / 2);
    return ns < 0x1p63 ? static_cast<Nanoseconds>(ns + 0.5) : held_forever;
}

FifoService FifoService::bytes_per_second(double rate) {
    require_rate("FifoService: bytes_per_second", rate);
    return {ticks_each(rate), 0};
}

FifoService FifoService::packets_per_second(double rate) {
    require_rate("FifoService: packets_per_second", rate);
    return {0, ticks_each(rate)};
}

Nanoseconds FifoService::serve(Nanoseconds now_ns, Bytes size) {
    constexpr Ticks almost_one = (Ticks{1} << tick_bits) - 1;
    idle_from_ = std::max(idle_from_, Ticks{now_ns} << tick_bits);
    idle_from_ += ticks_per_byte_ * size + ticks_per_packet_;
    const Ticks leaves_ns = (idle_from_ + almost_one) >> tick_bits;
    return leaves_ns < Ticks{held_forever} ? static_cast<std::uint64_t>(leaves_ns) : held_forever;
}

EmpiricalHolding::EmpiricalHolding(std::vector<Nanoseconds> ns, const std::vector<double> &weight)
    : ns_(std::move(ns)), table_(weight, "EmpiricalHolding: weight") {
    require_equal("EmpiricalHolding: weight", weight.size(), ns_.size());
    for (const Nanoseconds own : ns_) {
        require_holding("EmpiricalHolding: ns", own);
    }
}

Traffic::Traffic(ArrivalLaw arrival_law, std::optional<SizeLaws> size_law, HoldingLaw holding_law,
                 std::vector<Traffic> more)
    : arrivals(std::move(arrival_law)), sizes(std::move(size_law)), holding(std::move(holding_law)),
      beside(std::move(more)) {
    const auto *const recording = std::get_if<RecordedArrivals>(&arrivals);
    if ((recording == nullptr) != sizes.has_value()) {
        refuse("Traffic: sizes",
               sizes ? "recorded arrivals bring their own" : "there must be some");
    }
    if (std::holds_alternative<RecordedHolding>(holding) &&
        (recording == nullptr || !recording->has_holding())) {
        refuse("Traffic: holding", "no holding times are recorded with these arrivals");
    }
}

TrafficSource::TrafficSource(const Traffic &traffic, std::uint64_t seed) {
    streams_.push_back({StreamSource(traffic, seed, 0)});
    for (const Traffic &one : traffic.beside) {
        streams_.push_back({StreamSource(one, seed, streams_.size())});
    }
}

namespace {

constexpr std::uint64_t laws = 8; // numbers of random streams set aside for one of traffic

// The next draws of a law. A server and a recording tell later: they draw nothing.
template <typename Law> void fill(Law &law, Philox &random, std::span<std::uint64_t> draws) {
    if constexpr (requires { law.fill(random, draws); }) {
        law.fill(random, draws);
    } else {
        for (std::uint64_t &draw : draws) {
            if constexpr (requires { law.draw(random); }) {
                draw = law.draw(random);
            } else if constexpr (requires { law.next(random); }) {
                draw = law.next(random);
            } else {
                draw = 0;
            }
        }
    }
}

} // namespace

StreamSource::StreamSource(Traffic traffic, std::uint64_t seed, std::uint64_t number)
    : traffic_(std::move(traffic)), arrivals_(seed, laws * number + 1),
      sizes_(seed, laws * number + 2), holdings_(seed, laws * number + 3) {}

// As times from one to the next.
void StreamSource::take_recorded(const RecordedArrivals &recording) {
    const bool has_holding = std::holds_alternative<RecordedHolding>(traffic_.holding);
    ahead_.count = std::min(most_ahead, recording.count() - recorded_);
    Nanoseconds before_ns = recorded_ == 0 ? 0 : recording.time_ns(recorded_ - 1);
    for (std::size_t i = 0; i < ahead_.count; i++, recorded_++) {
        ahead_.interval_ns[i] = recording.time_ns(recorded_) - before_ns;
        before_ns = recording.time_ns(recorded_);
        ahead_.size[i] = recording.size(recorded_);
        if (has_holding) {
            ahead_.holding_ns[i] = recording.holding_ns(recorded_);
        }
    }
}

// False if none is left.
bool StreamSource::draw_ahead() {
    position_ = 0;
    const auto fill_with = [this](auto &laws, Philox &random, auto &draws) {
        const std::span<std::uint64_t> wanted = std::span(draws).first(ahead_.count);
        std::visit([&](auto &law) { fill(law, random, wanted); }, laws);
    };
    if (const auto *const recording = std::get_if<RecordedArrivals>(&traffic_.arrivals)) {
        take_recorded(*recording);
    } else {
        ahead_.count = most_ahead;
        fill_with(traffic_.arrivals, arrivals_, ahead_.interval_ns);
        fill_with(*traffic_.sizes, sizes_, ahead_.size);
    }
    if (!std::holds_alternative<RecordedHolding>(traffic_.holding)) {
        fill_with(traffic_.holding, holdings_, ahead_.holding_ns);
    }
    return ahead_.count > 0;
}

void StreamSource::throw_time_is_over() {
    throw Error("traffic: the clock passes 2^63 ns, 292 years (take shorter times)");
}

} // namespace heapfit
