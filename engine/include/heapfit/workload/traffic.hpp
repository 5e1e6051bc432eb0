// SPDX-License-Identifier: Apache-2.0
// What is offered to a heap: when requests arrive, how large they are, how long they are held.
//
//   Traffic = ArrivalLaw  x  SizeLaws  x  HoldingLaw          TrafficSource: the requests of a
//             random 1       random 2     random 3            traffic and a seed, one by one
//           + more streams, each of its own laws
//
// Each law draws from random numbers of its own, one draw a request whether it is served or not: so
// every heap is offered the very same requests, and changing one law leaves the others' draws as
// they are. Times are nanoseconds from the start, sizes bytes. Laws are checked when they are made:
// an Error names law and key. The same laws and seed give the same requests on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "heapfit/compiler.hpp"
#include "heapfit/event.hpp"
#include "heapfit/random.hpp"
#include "heapfit/workload/alias_table.hpp"
#include "heapfit/workload/slot_walk.hpp"

namespace heapfit {

using Nanoseconds = std::uint64_t;

// Held to the end of the simulation.
inline constexpr Nanoseconds held_forever = UINT64_MAX;

// The clock stays below: 292 years.
inline constexpr Nanoseconds time_end_ns = Nanoseconds{1} << 63;

// The largest mean or interval of a law: 1e15 ns are 11.6 days.
inline constexpr Nanoseconds longest_mean = 1'000'000'000'000'000;

// ---- Arrivals: `next` is the time from one arrival to the next, or from the start to the first.

// A Poisson process.
class Poisson {
  public:
    explicit Poisson(Nanoseconds mean_ns);
    [[nodiscard]] Nanoseconds next(Philox &random) { return random.exponential(mean_ns_); }
    void fill(Philox &random, std::span<Nanoseconds> draws) {
        random.fill_exponential(mean_ns_, draws);
    }

  private:
    Nanoseconds mean_ns_;
};

// One request each interval.
class Periodic {
  public:
    explicit Periodic(Nanoseconds interval_ns);
    [[nodiscard]] Nanoseconds next(Philox &) { return interval_ns_; }

  private:
    Nanoseconds interval_ns_;
};

// A Poisson process whose rate depends on a state. A state lasts an exponentially distributed time;
// the next one is drawn by the weights of its row. Begins in state 0.
class MarkovModulated {
  public:
    struct State {
        Nanoseconds interval_mean_ns; // between arrivals; 0: there are none in this state
        Nanoseconds stay_mean_ns;
    };

    // Weights have a row a state, a column a state that may follow.
    MarkovModulated(std::vector<State> states, const std::vector<std::vector<double>> &weights);
    [[nodiscard]] Nanoseconds next(Philox &random);

  private:
    void enter(std::size_t state, Philox &random);

    std::vector<State> states_;
    std::vector<AliasTable> followers_;
    std::size_t state_ = 0;
    Nanoseconds left_ns_ = 0; // of the stay
    bool has_begun_ = false;
};

// Bursts: a Poisson process while on, nothing while off; both last exponentially distributed times.
// Begins on.
class OnOff {
  public:
    OnOff(Nanoseconds on_mean_ns, Nanoseconds off_mean_ns, Nanoseconds interval_mean_ns);
    [[nodiscard]] Nanoseconds next(Philox &random) { return states_.next(random); }

  private:
    MarkovModulated states_;
};

// Requests as they were recorded: their times, sizes and, where known, how long each was held. The
// size law is then not asked.
class RecordedArrivals {
  public:
    // Times must not decrease; `holding_ns` is empty or has as many entries.
    RecordedArrivals(std::vector<Nanoseconds> time_ns, std::vector<Bytes> size,
                     std::vector<Nanoseconds> holding_ns);

    [[nodiscard]] std::size_t count() const { return recording_->time_ns.size(); }
    [[nodiscard]] Nanoseconds time_ns(std::size_t i) const { return recording_->time_ns[i]; }
    [[nodiscard]] Bytes size(std::size_t i) const { return recording_->size[i]; }
    [[nodiscard]] bool has_holding() const { return !recording_->holding_ns.empty(); }
    [[nodiscard]] Nanoseconds holding_ns(std::size_t i) const { return recording_->holding_ns[i]; }

  private:
    struct Recording {
        std::vector<Nanoseconds> time_ns;
        std::vector<Bytes> size;
        std::vector<Nanoseconds> holding_ns;
    };
    std::shared_ptr<const Recording> recording_; // shared by copies
};

// ---- Sizes: `draw` is the size of the next request, 1 to 2^31 bytes.

// Every size from least to most alike.
class UniformSize {
  public:
    UniformSize(Bytes least, Bytes most);
    [[nodiscard]] Bytes draw(Philox &random) { return least_ + random.below(range_); }
    void fill(Philox &random, std::span<Bytes> draws) {
        random.fill_below(range_, draws);
        for (Bytes &draw : draws) {
            draw += least_;
        }
    }

  private:
    Bytes least_;
    std::uint64_t range_;
};

// most / e^r, r uniform from 0 to ln(most / least) (Cebeci 2019; slot_walk.hpp).
class ExponentialSize {
  public:
    ExponentialSize(Bytes least, Bytes most) : law_(least, most) {}
    [[nodiscard]] Bytes draw(Philox &random) { return law_.draw(random); }

  private:
    SizeLaw law_;
};

// Packets: two frequent sizes, and those between them alike (Mamagkakis et al., section 3).
class BimodalSize {
  public:
    // The shares are percents of all packets.
    BimodalSize(Bytes ack_size, std::uint64_t ack_percent, Bytes mtu_size,
                std::uint64_t mtu_percent);
    [[nodiscard]] Bytes draw(Philox &random);

  private:
    Bytes ack_size_, mtu_size_;
    std::uint64_t ack_below_, mtu_below_; // of 100
};

// Sizes by their weights.
class EmpiricalSize {
  public:
    EmpiricalSize(std::vector<Bytes> size, const std::vector<double> &weight);
    [[nodiscard]] Bytes draw(Philox &random) { return size_[table_.draw(random)]; }

  private:
    std::vector<Bytes> size_;
    AliasTable table_;
};

// The sizes of a list in turn, over and over.
class ListedSizes {
  public:
    explicit ListedSizes(std::vector<Bytes> size);
    [[nodiscard]] Bytes draw(Philox &) {
        next_ = next_ == size_.size() ? 0 : next_;
        return size_[next_++];
    }

  private:
    std::vector<Bytes> size_;
    std::size_t next_ = 0;
};

// ---- Holding: `draw` is how long the request is held if it is served.

class ExponentialHolding {
  public:
    explicit ExponentialHolding(Nanoseconds mean_ns);
    [[nodiscard]] Nanoseconds draw(Philox &random) { return random.exponential(mean_ns_); }
    void fill(Philox &random, std::span<Nanoseconds> draws) {
        random.fill_exponential(mean_ns_, draws);
    }

  private:
    Nanoseconds mean_ns_;
};

class FixedHolding {
  public:
    explicit FixedHolding(Nanoseconds ns);
    [[nodiscard]] Nanoseconds draw(Philox &) { return ns_; }

  private:
    Nanoseconds ns_;
};

class UniformHolding {
  public:
    UniformHolding(Nanoseconds least_ns, Nanoseconds most_ns);
    [[nodiscard]] Nanoseconds draw(Philox &random) { return least_ns_ + random.below(range_); }

  private:
    Nanoseconds least_ns_;
    std::uint64_t range_;
};

// mean * e^(sigma z - sigma^2 / 2), z normally distributed.
class LognormalHolding {
  public:
    // Sigma, the deviation of the logarithm, is at most 10.
    LognormalHolding(Nanoseconds mean_ns, double sigma);
    [[nodiscard]] Nanoseconds draw(Philox &random);

  private:
    double mean_ns_;
    double sigma_;
};

// One server takes served requests in order of arrival, each for a time that follows from its
// size: those that wait for it stay allocated, those refused do not queue.
class FifoService {
  public:
    [[nodiscard]] static FifoService bytes_per_second(double rate);
    [[nodiscard]] static FifoService packets_per_second(double rate);

    // When a request that arrives now leaves, rounded up to whole nanoseconds.
    [[nodiscard]] Nanoseconds serve(Nanoseconds now_ns, Bytes size);

  private:
    using Ticks = Wide; // of 2^-32 ns, so that nothing drifts

    FifoService(Ticks ticks_per_byte, Ticks ticks_per_packet)
        : ticks_per_byte_(ticks_per_byte), ticks_per_packet_(ticks_per_packet) {}

    Ticks ticks_per_byte_;
    Ticks ticks_per_packet_;
    Ticks idle_from_ = 0;
};

// Times by their weights.
class EmpiricalHolding {
  public:
    EmpiricalHolding(std::vector<Nanoseconds> ns, const std::vector<double> &weight);
    [[nodiscard]] Nanoseconds draw(Philox &random) { return ns_[table_.draw(random)]; }

  private:
    std::vector<Nanoseconds> ns_;
    AliasTable table_;
};

// As the recorded arrivals say; held_forever for what was never freed.
struct RecordedHolding {};

using ArrivalLaw = std::variant<Poisson, Periodic, OnOff, MarkovModulated, RecordedArrivals>;
using SizeLaws =
    std::variant<UniformSize, ExponentialSize, BimodalSize, EmpiricalSize, ListedSizes>;
using HoldingLaw = std::variant<ExponentialHolding, FixedHolding, UniformHolding, LognormalHolding,
                                FifoService, EmpiricalHolding, RecordedHolding>;

struct Traffic {
    // Throws Error if arrivals are not recorded and no size law is given, if they are recorded and
    // one is given, or if the holding is to be the recorded one and there is none.
    Traffic(ArrivalLaw arrival_law, std::optional<SizeLaws> size_law, HoldingLaw holding_law,
            std::vector<Traffic> more = {});

    ArrivalLaw arrivals;
    std::optional<SizeLaws> sizes;
    HoldingLaw holding;
    std::vector<Traffic> beside; // further streams that arrive at the same heap
};

struct OfferedRequest {
    Nanoseconds time_ns;
    Bytes size;
    Nanoseconds holding_ns; // 0 with a FifoService: then `departure` tells
};

// The requests of one stream.
class StreamSource {
  public:
    // `number`: of the stream, from 0 on; each has random numbers of its own.
    StreamSource(Traffic traffic, std::uint64_t seed, std::uint64_t number);

    // False after the last one, which only recorded arrivals have. Throws Error if a time reaches
    // 2^63 ns.
    [[nodiscard]] bool next(OfferedRequest &request) {
        if (position_ == ahead_.count && !draw_ahead()) [[unlikely]] {
            return false;
        }
        time_ns_ += ahead_.interval_ns[position_];
        if (time_ns_ >= time_end_ns) [[unlikely]] {
            throw_time_is_over();
        }
        request = {time_ns_, ahead_.size[position_], ahead_.holding_ns[position_]};
        position_++;
        return true;
    }

    // When a request that is served leaves.
    [[nodiscard]] Nanoseconds departure(const OfferedRequest &request) {
        if (auto *const server = std::get_if<FifoService>(&traffic_.holding)) {
            return server->serve(request.time_ns, request.size);
        }
        const Nanoseconds leaves_ns = request.time_ns + request.holding_ns;
        return leaves_ns < request.time_ns ? held_forever : leaves_ns;
    }

  private:
    // Requests drawn at once: what each law draws does not depend on what became of the last.
    static constexpr std::size_t most_ahead = 32;
    struct Ahead {
        std::size_t count = 0;
        std::array<Nanoseconds, most_ahead> interval_ns{};
        std::array<Bytes, most_ahead> size{};
        std::array<Nanoseconds, most_ahead> holding_ns{};
    };

    [[nodiscard]] bool draw_ahead();
    void take_recorded(const RecordedArrivals &recording);
    [[noreturn]] static void throw_time_is_over();

    Traffic traffic_;
    Philox arrivals_;
    Philox sizes_;
    Philox holdings_;
    Nanoseconds time_ns_ = 0;
    Ahead ahead_;
    std::size_t position_ = 0; // in ahead_
    std::size_t recorded_ = 0; // requests of a recording that were drawn
};

// The requests of all streams of a traffic, earliest first; of equal times the first stream's.
class TrafficSource {
  public:
    TrafficSource(const Traffic &traffic, std::uint64_t seed);

    // False after the last one of all. Throws Error if a time reaches 2^63 ns.
    [[nodiscard]] bool next(OfferedRequest &request) {
        std::size_t first = streams_.size();
        for (std::size_t i = 0; i < streams_.size(); i++) {
            Stream &one = streams_[i];
            one.is_known = one.is_known || one.source.next(one.request);
            if (one.is_known && (first == streams_.size() ||
                                 one.request.time_ns < streams_[first].request.time_ns)) {
                first = i;
            }
        }
        if (first == streams_.size()) {
            return false;
        }
        last_ = first;
        streams_[first].is_known = false;
        request = streams_[first].request;
        return true;
    }

    // When the request that came last leaves if it is served.
    [[nodiscard]] Nanoseconds departure(const OfferedRequest &request) {
        return streams_[last_].source.departure(request);
    }

  private:
    struct Stream {
        StreamSource source;
        bool is_known = false; // its next request
        OfferedRequest request{};
    };

    std::vector<Stream> streams_;
    std::size_t last_ = 0; // whose request was the last
};

} // namespace heapfit
