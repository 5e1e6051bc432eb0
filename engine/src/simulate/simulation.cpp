// SPDX-License-Identifier: Apache-2.0
#include "heapfit/simulate/simulation.hpp"

#include <algorithm>
#include <utility>

#include "simulate/event_loop.hpp"

namespace heapfit {

namespace {

// Sums up what a walk tells of the free blocks.
struct FreeSums {
    Bytes free = 0;
    Bytes largest = 0;
    std::uint64_t blocks = 0; // used ones too
};

void add_block(void *context, const void *, std::size_t usable_size, bool is_used) {
    FreeSums &sums = *static_cast<FreeSums *>(context);
    sums.blocks++;
    if (!is_used) {
        sums.free += usable_size;
        sums.largest = std::max<Bytes>(sums.largest, usable_size);
    }
}

class HeapServer {
  public:
    explicit HeapServer(HostHeap heap)
        : heap_(std::move(heap)), operations_(&heap_.plan().operations()),
          plan_(heap_.plan().raw()) {}

    void *serve(Bytes size, Bytes &usable) {
        void *const block = operations_->alloc(heap_.get(), plan_, size);
        if (block != nullptr) {
            usable = heap_.usable_size(block, size);
        }
        return block;
    }

    void release(void *block, Bytes size) { heap_.free(block, size); }

    [[nodiscard]] WalkedHeap walk() const {
        FreeSums sums;
        operations_->walk(heap_.get(), plan_, add_block, &sums);
        return {sums.free - sums.largest, sums.blocks};
    }

    [[nodiscard]] const HostHeap &heap() const { return heap_; }

  private:
    HostHeap heap_;
    const hfit_operations *operations_; // of heap_'s plan, at hand
    const hfit_plan *plan_;
};

class NoHeap {
  public:
    explicit NoHeap(std::uint64_t most_live) : left_(most_live) {}

    void *serve(Bytes size, Bytes &usable) {
        if (left_ == 0) {
            return nullptr;
        }
        left_--;
        usable = size;
        return this;
    }

    void release(void *, Bytes) { left_++; }
    [[nodiscard]] WalkedHeap walk() const { return {0, 0}; }

  private:
    std::uint64_t left_;
};

} // namespace

Bytes size_bin_bound(std::size_t bin) {
    return bin < 2 ? bin + 1 : (3 + bin % 2) << (bin / 2 - 1);
}

class Simulation::Loop : public EventLoop<HeapServer> {
    using EventLoop::EventLoop;
};

Simulation::Simulation(HostHeap heap, const Traffic &traffic, std::uint64_t seed)
    : loop_(std::make_unique<Loop>(HeapServer(std::move(heap)), traffic, seed)) {}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation &&) noexcept = default;
Simulation &Simulation::operator=(Simulation &&) noexcept = default;

std::uint64_t Simulation::run(std::uint64_t requests) {
    return loop_->run(requests);
}

void Simulation::reset_counts() {
    loop_->reset_counts();
}

SimulationCounts Simulation::counts() const {
    SimulationCounts counts = loop_->counts();
    counts.footprint = heap().footprint();
    return counts;
}

std::uint64_t Simulation::live_blocks() const {
    return loop_->live_blocks();
}

Bytes Simulation::live() const {
    return loop_->live();
}

const HostHeap &Simulation::heap() const {
    return loop_->server().heap();
}

std::uint64_t simulate_without_heap(const Traffic &traffic, std::uint64_t seed,
                                    std::uint64_t requests, std::uint64_t most_live) {
    EventLoop<NoHeap> loop(NoHeap(most_live), traffic, seed);
    (void)loop.run(requests);
    return loop.counts().admitted;
}

} // namespace heapfit
