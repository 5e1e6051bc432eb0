// SPDX-License-Identifier: Apache-2.0
// Runs trials of region sizes on several threads while the caller's thread reports progress.
#pragma once

#include <span>
#include <vector>

#include "heapfit/replay/region_search.hpp"

namespace heapfit {

// Numbers of sizes that one thread tries in this order.
using Turn = std::vector<std::size_t>;

class ParallelTrials {
  public:
    ParallelTrials(const TrialOf &trial, const SearchOptions &options);

    // What each size gave, in order. An exception of the progress callback or of a trial stops all
    // and is thrown.
    [[nodiscard]] std::vector<TrialResult> run(std::span<const std::uint64_t> sizes,
                                               std::span<const Turn> turns);

    // How many trials are still to come, as far as is known.
    void expect(std::uint64_t trials) { total_ = done_ + trials; }

    // Reports that there are none.
    void finish() {
        expect(0);
        report(0);
    }

  private:
    struct Batch;

    void report(std::uint64_t done) const;
    void watch(Batch &batch, std::size_t count) const;

    const TrialOf &trial_;
    const SearchOptions &options_;
    std::uint64_t done_ = 0;
    std::uint64_t total_ = 0;
};

} // namespace heapfit
