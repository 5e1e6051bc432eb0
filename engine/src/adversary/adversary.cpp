// SPDX-License-Identifier: Apache-2.0
#include "heapfit/adversary/adversary.hpp"

#include <algorithm>

#include "adversary/bad_program.hpp"
#include "adversary/event_script.hpp"
#include "heapfit/error.hpp"

namespace heapfit {

namespace {

constexpr std::uint64_t unit = 8;                                         // bytes
constexpr std::uint64_t largest_region = (std::uint64_t{1} << 32) - unit; // there is
constexpr std::uint64_t told_every = 100'000;                             // events
constexpr std::size_t most_kept = 16;
constexpr std::uint64_t fruitless_plays = 700; // then the search begins anew
constexpr double share_of_programs = 0.8;      // of the events; the rest is for scripts
constexpr std::uint64_t plays_a_leap = 4;      // one in so many begins in a larger region
constexpr std::size_t longest_script = 100'000;

void check(const Limits &limits) {
    if (limits.sizes.size() != limits.peaks.size()) {
        throw Error("adversary: " + std::to_string(limits.sizes.size()) + " sizes, but " +
                    std::to_string(limits.peaks.size()) + " peaks");
    }
    if (!std::ranges::is_sorted(limits.sizes, std::ranges::less_equal{})) {
        throw Error("adversary: the sizes do not ascend");
    }
}

// How high a play reached: the region if that was broken, else the footprint.
using Height = std::uint64_t;

struct KeptProgram {
    BadProgram program;
    Height height;
};

class Search {
  public:
    Search(const Plan &plan, const Limits &limits, const AdversaryOptions &options,
           const std::function<bool(double)> &progress)
        : plan_(plan), limits_(limits), options_(options), progress_(progress),
          random_(options.seed),
          groups_(size_groups(plan, limits)), stage_{groups_, pools_end(plan), options.events} {}

    Adversary run() {
        if (!groups_.empty()) {
            try_known_programs();
            change_programs();
            change_events();
        }
        return std::move(worst_);
    }

  private:
    static std::uint64_t pools_end(const Plan &plan) {
        const hfit_pools_plan *const pools = plan.pools_plan();
        return pools == nullptr ? 0 : pools->pools.end;
    }

    [[nodiscard]] bool is_over(double share = 1.0) const {
        return worst_.is_stopped || worst_.breaks_any ||
               static_cast<double>(worst_.replayed) >= share * static_cast<double>(options_.events);
    }

    void count(std::uint64_t events) {
        const std::uint64_t before = worst_.replayed / told_every;
        worst_.plays++;
        worst_.replayed += events + 1;
        if (worst_.replayed / told_every != before) {
            worst_.is_stopped = !progress_(std::min(1.0, static_cast<double>(worst_.replayed) /
                                                             static_cast<double>(options_.events)));
        }
    }

    // Plays in a region; whether that was broken, and how high the play reached. The worst is kept.
    template <typename Moves>
    bool breaks(const Moves &moves, std::uint64_t region, Height &height) {
        LimitedProgram program(plan_, {region, options_.base_alignment}, limits_);
        stage_.events = options_.events - std::min(options_.events, worst_.replayed);
        play(moves, stage_, program);
        count(program.events().size());
        height = program.is_refused() ? region : program.footprint();
        if (program.is_refused() && region > worst_.region) {
            worst_.region = region;
            worst_.events.assign(program.events().begin(), program.events().end());
        }
        return program.is_refused();
    }

    // The next region to break: the one asked about, then a little more than what was broken; now
    // and then one well beyond, since a region may be broken where a smaller one is not.
    [[nodiscard]] std::uint64_t next_region() {
        const std::uint64_t next = worst_.region == 0 ? options_.region : worst_.region + unit;
        const bool leaps = random_.below(plays_a_leap) == 0;
        const std::uint64_t leap = leaps ? random_.below(next / 4 + 1) / unit * unit : 0;
        return std::min(next + leap, largest_region);
    }

    // Plays in the next region to break; where it breaks, in larger ones, until it no longer does.
    template <typename Moves> Height attack(const Moves &moves) {
        Height height = 0;
        if (!breaks(moves, next_region(), height)) {
            return height;
        }
        std::uint64_t step = std::max(unit, worst_.region / 256 / unit * unit);
        std::uint64_t fails = largest_region;
        while (!is_over()) {
            const std::uint64_t larger = std::min(worst_.region + step, largest_region);
            worst_.breaks_any = worst_.region == largest_region;
            if (worst_.breaks_any || !breaks(moves, larger, height)) {
                fails = larger;
                break;
            }
            step *= 2;
        }
        close_in(moves, fails);
        return worst_.region;
    }

    // Halves what lies between the worst region and one that was not broken.
    template <typename Moves> void close_in(const Moves &moves, std::uint64_t fails) {
        Height height = 0;
        while (!is_over() && fails - worst_.region > unit) {
            const std::uint64_t middle =
                worst_.region + std::max(unit, (fails - worst_.region) / 2 / unit * unit);
            if (middle >= fails) {
                return;
            }
            if (!breaks(moves, middle, height)) {
                fails = middle;
            }
        }
    }

    void keep(BadProgram program) {
        const Height height = attack(program);
        kept_.push_back({std::move(program), height});
        std::ranges::stable_sort(kept_, std::ranges::greater{}, &KeptProgram::height);
        kept_.resize(std::min(kept_.size(), most_kept));
    }

    void try_known_programs() {
        for (BadProgram &program : known_bad_programs(groups_.size())) {
            if (is_over(share_of_programs)) {
                return;
            }
            keep(std::move(program));
        }
    }

    // Local search from several programs at a time, the higher ones more often.
    void change_programs() {
        std::uint64_t fruitless = 0;
        while (!is_over(share_of_programs)) {
            if (kept_.empty()) {
                keep(drawn_program(groups_.size(), random_));
            }
            const Height highest = kept_.front().height;
            const std::size_t chosen = std::min(random_.below(kept_.size()), //
                                                random_.below(kept_.size()));
            keep(changed(kept_[chosen].program, groups_.size(), random_));
            fruitless = kept_.front().height > highest ? 0 : fruitless + 1;
            if (fruitless == fruitless_plays) {
                kept_.clear();
                fruitless = 0;
            }
        }
    }

    // From the worst sequence on; what reaches no less high is changed further.
    void change_events() {
        if (worst_.events.empty() || worst_.events.size() > longest_script) {
            return;
        }
        EventScript script = script_of(worst_.events, limits_);
        Height highest = attack(script);
        while (!is_over()) {
            EventScript other = changed(script, limits_, random_);
            const Height height = attack(other);
            if (height >= highest) {
                script = std::move(other);
                highest = height;
            }
        }
    }

    const Plan &plan_;
    const Limits &limits_;
    const AdversaryOptions &options_;
    const std::function<bool(double)> &progress_;
    Philox random_;
    std::vector<SizeGroup> groups_;
    Stage stage_;
    std::vector<KeptProgram> kept_; // the highest first
    Adversary worst_;
};

} // namespace

Adversary find_adversary(const Plan &plan, const Limits &limits, const AdversaryOptions &options,
                         const std::function<bool(double)> &progress) {
    check(limits);
    if (options.region < plan.smallest_region()) {
        throw Error("adversary: a region of " + std::to_string(options.region) +
                    " bytes is below the " + std::to_string(plan.smallest_region()) +
                    " that the plan needs to start");
    }
    return Search(plan, limits, options, progress).run();
}

} // namespace heapfit
