// SPDX-License-Identifier: Apache-2.0
// Packets become requests: an arrival allocates the packet, its release frees it. Four models say
// when a packet is released; each keeps only what is queued now.
//
//   fill-drain:N        after N arrivals all N are freed, in order; a last batch below N stays live
//   fifo:RATE           one server takes RATE packets a second off the queue, first come first
//                       served. It does not see pauses: a gap above one hour counts as one second
//   link:BITS_PER_S     a link sends the packets, each byte of them, one after the other in order
//   hold:fixed:TIME     each packet is held so long: 500us, 10ms, 2s; microseconds without a unit
//   hold:exp:MEAN[:SEED]  or exponentially distributed, of this mean (random.hpp; seed 0 if not
//                       told)
//
// Behind it, each after a comma: to=ADDRESS, the packets that this device receives, or
// from=ADDRESS, those that it sends (ends.hpp); rate=X, where X times as many packets come in a
// second.
//
// Releases due at or before an arrival come before it, at their own times, earlier packets first
// where times are equal. What fifo, link and hold still queue at the end of the capture is released
// too.
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "heapfit/capture/ends.hpp"
#include "heapfit/event.hpp"
#include "heapfit/random.hpp"

namespace heapfit {

// Events of packets, one column each. Objects are ordinals of arrivals; a free has size 0.
struct QueueEvents {
    std::vector<std::uint8_t> op; // numbers of Op
    std::vector<ObjectId> object;
    std::vector<Bytes> size;
    std::vector<Tick> time_us;

    void alloc(ObjectId object, Bytes size, Tick time_us);
    void free(ObjectId object, Tick time_us);
    void reserve(std::size_t events);
};

struct Arrival {
    ObjectId object;
    Bytes size;
    Tick time_us;
};

class FillAndDrain {
  public:
    explicit FillAndDrain(std::uint32_t count) : count_(count) {}
    void arrive(const Arrival &arrival, QueueEvents &out);
    void finish(QueueEvents &) {}

  private:
    std::uint32_t count_;
    std::uint32_t queued_ = 0;
};

// The queued packets are consecutive, and a server with a queue never idles: so the oldest packet
// and the time left until its release are all there is to know.
class FifoServer {
  public:
    explicit FifoServer(std::uint64_t service_ns) : service_ns_(service_ns) {}
    void arrive(const Arrival &arrival, QueueEvents &out);
    void finish(QueueEvents &out);

  private:
    std::uint64_t service_ns_;
    std::uint64_t left_ns_ = 0; // from last_us_ to the oldest packet's release
    Tick last_us_ = 0;          // of the last arrival
    ObjectId oldest_ = 0;
    ObjectId next_ = 0;
};

// A packet leaves when its last bit does.
class LinkServer {
  public:
    explicit LinkServer(double bits_per_s) : ns_per_byte_(8e9 / bits_per_s) {}
    void arrive(const Arrival &arrival, QueueEvents &out);
    void finish(QueueEvents &out);

  private:
    void release_oldest(QueueEvents &out);

    double ns_per_byte_;
    Tick idle_us_ = 0; // from when on the link is idle, and this much later
    std::uint64_t idle_ns_ = 0;
    std::queue<std::pair<Tick, ObjectId>> queue_;
};

class HoldingTime {
  public:
    // A fixed time draws nothing.
    HoldingTime(bool is_fixed, std::uint64_t mean_us, std::uint64_t seed = 0)
        : is_fixed_(is_fixed), mean_us_(mean_us), random_(seed) {}
    void arrive(const Arrival &arrival, QueueEvents &out);
    void finish(QueueEvents &out);

  private:
    using Release = std::pair<Tick, ObjectId>;

    void release_oldest(QueueEvents &out);

    bool is_fixed_;
    std::uint64_t mean_us_;
    Philox random_;
    std::priority_queue<Release, std::vector<Release>, std::greater<>> queue_;
};

class QueueModel {
  public:
    // Reads a model as written above. Throws Error that lists them if it is none.
    explicit QueueModel(std::string_view text);

    // The events of these packets, in order. Throws Error if a time is below its predecessor or
    // reaches 2^63, or after 2^32 - 1 packets.
    [[nodiscard]] QueueEvents feed(std::span<const Tick> time_us,
                                   std::span<const std::uint32_t> size);

    // The releases after the last arrival.
    [[nodiscard]] QueueEvents finish();

    // Whose packets are meant. The caller hands over those alone.
    [[nodiscard]] const DeviceSide &side() const { return side_; }

  private:
    void take_choice(std::string_view choice);

    std::variant<FillAndDrain, FifoServer, LinkServer, HoldingTime> model_;
    DeviceSide side_;
    double rate_ = 1; // arrivals a second over those of the packets
    ObjectId arrivals_ = 0;
    Tick last_us_ = 0;
};

} // namespace heapfit
