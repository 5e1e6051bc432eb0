// SPDX-License-Identifier: Apache-2.0
// The laws behind the workloads of workload.hpp, one source each. Their requests keep the rules of
// a trace: an id is allocated before it is resized or freed, and not twice at once. Times are 0
// where a model has no clock.
#pragma once

#include "heapfit/workload/workload.hpp"

namespace heapfit {

// Blocks of a few types come and go (Lee and Yi 2008, table 2). Each event takes a type, all alike;
// a coin says whether a block of it is allocated, or a random one of it freed. Where none is live
// it allocates, and where `limit` are it frees.
struct CappedWalk {
    std::vector<Bytes> sizes; // of the types
    std::uint64_t limit;      // blocks of one type live at once
    std::uint64_t events;
};
[[nodiscard]] WorkloadLaw capped_walk(const CappedWalk &walk, std::uint64_t seed);

// Packets of two frequent sizes, and of every size between them alike, pass a queue in order
// (Mamagkakis et al., sections 3 and 4). Whenever `depth` are queued they are released until
// `left` are queued; at the end all are released.
//
//   left = 0: fill and drain       left = depth - 1: the queue slides
struct PacketQueue {
    Bytes ack_size, mtu_size;
    std::uint64_t ack_percent, mtu_percent;
    std::uint64_t packets;
    std::uint64_t depth, left;
};
[[nodiscard]] WorkloadLaw packet_queue(const PacketQueue &queue, std::uint64_t seed);

// The walk over slots of slot_walk.hpp (Cebeci 2019, section 1).
struct BufferWalk {
    std::uint64_t slots;
    Bytes smallest, largest;
    std::uint64_t events;
};
[[nodiscard]] WorkloadLaw buffer_walk(const BufferWalk &walk, std::uint64_t seed);

// Requests arrive as a Poisson process, ask for any size of a range alike, and are held for an
// exponentially distributed time (Elsayed and Galal, part 2, section 3).
struct PoissonHolding {
    Bytes smallest, largest;
    std::uint64_t rate;       // arrivals a second
    std::uint64_t holding_us; // mean
    std::uint64_t events;     // the last ones live stay live
};
[[nodiscard]] WorkloadLaw poisson_holding(const PoissonHolding &holding, std::uint64_t seed);

// Passes over an array of slots, as DJGPP's malloc contest has it. A pass touches every slot with a
// probability of 1/2: an empty one is allocated, a live one is resized one time in four, else
// freed. A size is a random number below 2^k, at least 1, with k from 3 to 17 alike.
struct SlotSweep {
    std::uint64_t slots;
    std::uint64_t events;
};
[[nodiscard]] WorkloadLaw slot_sweep(const SlotSweep &sweep, std::uint64_t seed);

// What a program asks for, drawn from statistics of it (after Zorn and Grunwald 1994): each
// allocation draws a size and a lifetime, which counts allocations; what is due is freed first.
// Where `limit` blocks of the size are live, the one due soonest is freed before.
//
//   sizes          MEAN: exponential about one mean       else: one of `sizes`, by `weights`
//   the next size  MARKOV: the last one again in `repeat_percent` of cases
//   over time      TIME: after each `phase` allocations the weights move on by one size
//   lifetime       exponential about the size's own mean; `long_percent` live 10 times as long
struct ProgramModel {
    std::vector<Bytes> sizes;
    std::vector<std::uint64_t> weights;
    std::vector<std::uint64_t> lives; // mean, in allocations, by size
    bool spreads_sizes = false;       // MEAN
    std::uint64_t repeat_percent = 0;
    std::uint64_t phase = 0; // 0: the weights stay
    std::uint64_t long_percent = 0;
    std::uint64_t limit = UINT64_MAX;
    std::uint64_t events = 0; // the last ones live stay live
};
[[nodiscard]] WorkloadLaw program_model(const ProgramModel &model, std::uint64_t seed);

// Phases with a number of live blocks to reach for each type. A phase lasts `phase` events and
// draws a target for each type, 0 to `limit` alike. Each event takes a type, all alike, and moves
// its live blocks towards the target; on it, a coin says to which side. A random block is freed.
struct PhasedTargets {
    std::vector<Bytes> sizes; // of the types
    std::uint64_t limit;      // blocks of one type live at once
    std::uint64_t phase;      // events
    std::uint64_t events;
};
[[nodiscard]] WorkloadLaw phased_targets(const PhasedTargets &targets, std::uint64_t seed);

// The sizes change with the phase: `pairs` times a small and a large block; all large ones freed;
// as many of a third size, which fits no hole; everything freed. Nothing is drawn.
struct PhaseShift {
    Bytes small, large, last;
    std::uint64_t pairs;
};
[[nodiscard]] WorkloadLaw phase_shift(const PhaseShift &shift);

// A mix of packets in bursts through one server. A burst's packets arrive together; bursts are a
// Poisson process; the number of packets in one is geometric about `burst`. Packets leave in order,
// each `1 / served` after the one before or after its arrival. Other sizes lie between the two
// frequent ones: alike by magnitude for `log_percent` of them, else alike.
struct PacketMix {
    Bytes ack_size, mtu_size;
    std::uint64_t ack_percent, mtu_percent, log_percent;
    std::uint64_t packets;
    std::uint64_t rate, served; // packets a second
    std::uint64_t burst;        // packets, mean
};
[[nodiscard]] WorkloadLaw packet_mix(const PacketMix &mix, std::uint64_t seed);

} // namespace heapfit
