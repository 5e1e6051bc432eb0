// SPDX-License-Identifier: Apache-2.0
// Trials in many regions, of which each goes on from where it parts from one in a larger region.
//
//   events  0 ------------------------------------------> n
//   S       ====o=======o=======o=======o=======o========
//   S - 8                       o=======o====|               refused, as S - 16 is, which is alike
//   S - 24          o===o=======o====|
//
// Heaps in regions of nearly one size are alike but for their last free chunk, until a request
// finds that one too small, or of another class. The allocator tells before each request how much
// room a region must have to do with it as the one that is replayed (room_alike in
// hfit/descriptor.h). A smaller one is gone on with from the last state (o) that was kept before it
// parts, with its last chunk made shorter; if it never parts nothing is replayed.
//
// Of heaps that tell their reach instead (hfit/descriptor.h), a run does for each smaller region
// that has room for its reach, refusals included; any other region is replayed.
//
// What is told is what a replay of each region alone tells; what it takes depends on the order. But
// for the footprint and the hash of a region that a reach does for: these count from the region's
// start, and control structures differ.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "heapfit/replay/replay.hpp"
#include "heapfit/replay/trial.hpp"

namespace heapfit {

// Of a trial that asks for room or tells its reach; of any other each region is replayed. For
// several threads, of which one at a time tries regions of one `kind`.
class ForkedTrials {
  public:
    // The trial must outlive it.
    explicit ForkedTrials(const Trial &trial);

    // As Trial::run.
    [[nodiscard]] TrialResult run(std::uint64_t size, const Stop &stop = {});

    // Regions of one kind may be alike, as all of a heap that tells its reach, and those of any
    // other with control structures of one length: trying them one after the other, the largest
    // first, takes least.
    [[nodiscard]] std::uint64_t kind(std::uint64_t size) const;

  private:
    using States = std::vector<std::shared_ptr<const Replay::State>>;

    // A region that was tried.
    struct Tried {
        std::uint64_t size;
        TrialResult result;
        std::vector<RoomRise> rises;
        States states;

        // Until so many events a smaller region with this room does all alike.
        [[nodiscard]] std::uint64_t alike_until(std::uint64_t room) const;

        // Events that were decided, the refused one among them.
        [[nodiscard]] std::uint64_t decided() const { return result.events + !result.runs; }
    };

    // The smallest of a kind that serves, and the last that was tried: smaller ones go on from
    // these.
    struct Kind {
        std::optional<Tried> serving;
        std::optional<Tried> last;
    };

    // A run, and the smallest region that it does for: no less than its own where it tells nothing.
    struct Reached {
        TrialResult result;
        std::uint64_t least;
    };

    [[nodiscard]] TrialResult reached(std::uint64_t size, const Stop &stop);
    [[nodiscard]] bool tells_alike() const;
    [[nodiscard]] std::optional<std::uint64_t> room_of(std::uint64_t size) const;
    [[nodiscard]] Kind &of_kind(std::uint64_t kind);
    [[nodiscard]] Tried tried(const Kind &kind, std::uint64_t size, std::uint64_t room,
                              const Stop &stop) const;
    [[nodiscard]] Tried forked(const Tried &parent, std::uint64_t size, std::uint64_t until,
                               const Stop &stop) const;
    [[nodiscard]] Tried whole(std::uint64_t size, const Stop &stop) const;
    [[nodiscard]] Tried finished(Replay replay, Tried begun, bool keeps_states,
                                 const Stop &stop) const;
    [[nodiscard]] bool feed_until_state(Replay &replay, const Stop &stop) const;
    [[nodiscard]] bool keep_state(Replay &replay, States &states) const;

    const Trial &trial_;
    Plan plan_;
    Bytes least_room_;      // of a region that is compared with another: a search tries few below
    std::uint64_t between_; // events from one state to the next
    std::mutex mutex_;      // guards the map, not what is in it
    std::map<std::uint64_t, Kind> kinds_;
    bool tells_reach_;
    std::map<std::uint64_t, Reached> reached_; // by the run's region
};

} // namespace heapfit
