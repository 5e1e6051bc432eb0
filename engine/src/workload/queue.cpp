// SPDX-License-Identifier: Apache-2.0
// Packets are numbered as they arrive and leave in the same order.
#include "heapfit/error.hpp"
#include "heapfit/random.hpp"
#include "heapfit/workload/traffic.hpp"
#include "workload/laws.hpp"

namespace heapfit {

namespace {

class Queue {
  public:
    Queue(const PacketQueue &queue, std::uint64_t seed)
        : queue_(queue),
          sizes_(queue.ack_size, queue.ack_percent, queue.mtu_size, queue.mtu_percent),
          random_(seed) {}

    std::optional<Request> operator()() {
        const std::uint64_t queued = arrived_ - released_;
        is_draining_ = queued == queue_.depth || (is_draining_ && queued > queue_.left);
        if (is_draining_ || (arrived_ == queue_.packets && queued > 0)) {
            return Request{.op = Op::free, .id = released_++};
        }
        if (arrived_ == queue_.packets) {
            return std::nullopt;
        }
        return Request{.op = Op::alloc, .id = arrived_++, .size = sizes_.draw(random_)};
    }

  private:
    PacketQueue queue_;
    BimodalSize sizes_;
    Philox random_;
    std::uint64_t arrived_ = 0;
    std::uint64_t released_ = 0;
    bool is_draining_ = false;
};

} // namespace

WorkloadLaw packet_queue(const PacketQueue &queue, std::uint64_t seed) {
    if (queue.ack_percent + queue.mtu_percent > 100) {
        throw Error("workload: ack_percent and mtu_percent are more than 100 together");
    }
    if (queue.mtu_size < queue.ack_size + 2) {
        throw Error("workload: mtu_size must be at least ack_size + 2: others lie between them");
    }
    return Queue(queue, seed);
}

} // namespace heapfit
