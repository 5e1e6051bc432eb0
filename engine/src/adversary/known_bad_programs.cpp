// SPDX-License-Identifier: Apache-2.0
// Robson's ladder and its relatives, in the sizes there are.
#include <algorithm>
#include <array>

#include "adversary/bad_program.hpp"

namespace heapfit {

namespace {

constexpr std::size_t most_rounds = 16;
constexpr std::array<std::uint8_t, 4> slacks = {0, 2, 8, 16};
constexpr std::array<std::uint8_t, 2> runs = {1, 4};

constexpr Round plain{.many = 0,
                      .one = 0,
                      .run = 1,
                      .share = 16,
                      .keep = Keep::fewest,
                      .window = 0,
                      .slack = 0,
                      .stride = 2,
                      .order = ReleaseOrder::ascending,
                      .empties_pools = true};

// Every `stride`-th group, the last one always.
std::vector<std::uint8_t> rungs(std::size_t first, std::size_t stride, std::size_t groups) {
    std::vector<std::uint8_t> found;
    for (std::size_t i = first; i < groups; i += stride) {
        found.push_back(static_cast<std::uint8_t>(i));
    }
    if (found.empty() || found.back() + 1U != groups) {
        found.push_back(static_cast<std::uint8_t>(groups - 1));
    }
    return found;
}

// Fills with each rung and leaves no hole for the next one.
BadProgram ladder(const std::vector<std::uint8_t> &rungs, std::uint8_t slack) {
    BadProgram program;
    for (std::size_t i = 0; i < rungs.size(); i++) {
        Round round = plain;
        round.many = round.one = rungs[i];
        round.window = rungs[std::min(i + 1, rungs.size() - 1)];
        round.slack = slack;
        program.rounds.push_back(round);
    }
    return program;
}

// Blocks of `thin` between runs of each rung, so that what is kept costs little.
BadProgram fenced(const std::vector<std::uint8_t> &rungs, std::uint8_t thin, std::uint8_t run) {
    BadProgram program = ladder(rungs, 0);
    for (Round &round : program.rounds) {
        round.one = thin;
        round.run = run;
    }
    return program;
}

// Every rung in turn, all freed before the next: what one size leaves to no other adds up.
BadProgram one_after_the_other(std::vector<std::uint8_t> rungs, bool descends) {
    if (descends) {
        std::ranges::reverse(rungs);
    }
    BadProgram program = ladder(rungs, 0);
    for (Round &round : program.rounds) {
        round.keep = Keep::none;
    }
    return program;
}

} // namespace

std::vector<BadProgram> known_bad_programs(std::size_t groups) {
    std::vector<BadProgram> known;
    const std::size_t least_stride = (groups + most_rounds - 1) / most_rounds;
    for (std::size_t stride = least_stride; stride <= groups; stride *= 2) {
        const std::vector<std::uint8_t> climbed = rungs(0, stride, groups);
        for (const std::uint8_t slack : slacks) {
            known.push_back(ladder(climbed, slack));
        }
        for (const std::uint8_t run : runs) {
            known.push_back(fenced(climbed, 0, run));
        }
        known.push_back(one_after_the_other(climbed, false));
        known.push_back(one_after_the_other(climbed, true));
    }
    return known;
}

} // namespace heapfit
