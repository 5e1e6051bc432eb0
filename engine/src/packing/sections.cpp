// SPDX-License-Identifier: Apache-2.0
#include "packing/sections.hpp"

#include <algorithm>

namespace heapfit {

namespace {

// When something has begun since a lifetime ended last, and another ends next: nothing that is live
// then is a part of what is live at another time.
std::vector<std::uint64_t> fullest_times(std::span<const Lifetime> lifetimes) {
    std::vector<std::uint64_t> ends;
    for (const Lifetime &one : lifetimes) {
        ends.push_back(one.until);
    }
    std::ranges::sort(ends);
    std::vector<std::uint64_t> times;
    std::size_t begun = 0;
    for (const std::uint64_t end : ends) {
        const std::size_t before = begun;
        while (begun < lifetimes.size() && lifetimes[begun].from < end) {
            begun++;
        }
        if (begun > before) {
            times.push_back(lifetimes[begun - 1].from);
        }
    }
    return times;
}

} // namespace

Sections::Sections(std::span<const Lifetime> lifetimes) : overlapping(lifetimes.size()) {
    const std::vector<std::uint64_t> times = fullest_times(lifetimes);
    members.resize(times.size());
    const auto first_from = [&](std::uint64_t time) {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(times, time) - times.begin());
    };
    for (std::uint32_t i = 0; i < lifetimes.size(); i++) {
        const Lifetime &one = lifetimes[i];
        spans.push_back({first_from(one.from), first_from(one.until)});
        sizes.push_back(one.size);
        lives.push_back(one.until - one.from);
        for (std::uint32_t section = spans[i].begin; section < spans[i].end; section++) {
            members[section].push_back(i);
        }
        for (std::uint32_t other = 0; other < i; other++) {
            if (lifetimes[other].until > one.from) {
                overlapping[i].push_back(other);
                overlapping[other].push_back(i);
            }
        }
    }
}

} // namespace heapfit
