// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "adversary/bad_program.hpp"

namespace heapfit {

namespace {

constexpr std::size_t most_groups = 64;
constexpr std::uint64_t spare = 4096; // beside the blocks of a trial

// A number that grows with the size, 2^bits values to a power of two.
std::uint64_t rank_of(Bytes size, unsigned bits) {
    const auto log2 = static_cast<unsigned>(std::bit_width(size | 1)) - 1;
    if (log2 <= bits) {
        return size;
    }
    return (std::uint64_t{log2 - bits} << bits) + (size >> (log2 - bits));
}

std::vector<SizeGroup> grouped(const Limits &limits, unsigned bits) {
    std::vector<SizeGroup> groups;
    for (std::uint32_t i = 0; i < limits.sizes.size(); i++) {
        if (limits.peaks[i] == 0 || limits.sizes[i] > limits.live) {
            continue;
        }
        const bool joins = !groups.empty() && rank_of(limits.sizes[groups.back().first], bits) ==
                                                  rank_of(limits.sizes[i], bits);
        if (joins) {
            groups.back().last = i;
        } else {
            groups.push_back({i, i, 0});
        }
    }
    return groups;
}

// Bytes between two blocks on an empty heap, or an estimate where it does not serve three.
std::uint64_t pitch_of(const Plan &plan, Bytes size) {
    const std::uint64_t unit = plan.alignment();
    const std::uint64_t estimate = (size + unit - 1) / unit * unit + unit;
    const Limits trial{{size}, {3}, 3 * size};
    const std::uint64_t region = plan.smallest_region() + 4 * estimate + spare;
    if (region >= std::uint64_t{1} << 32) {
        return estimate;
    }
    LimitedProgram program(plan, {region}, trial);
    while (program.may_ask(0)) {
        if (!program.ask(0)) {
            return estimate;
        }
    }
    const std::vector<PlacedBlock> blocks = program.live_blocks();
    return std::min(blocks[1].begin - blocks[0].begin, blocks[2].begin - blocks[1].begin);
}

} // namespace

std::vector<SizeGroup> size_groups(const Plan &plan, const Limits &limits) {
    std::vector<SizeGroup> groups = grouped(limits, 40);
    for (unsigned bits = 4; groups.size() > most_groups; bits--) {
        groups = grouped(limits, bits);
    }
    for (SizeGroup &group : groups) {
        group.pitch = pitch_of(plan, limits.sizes[group.first]);
    }
    return groups;
}

} // namespace heapfit
