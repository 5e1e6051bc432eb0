// SPDX-License-Identifier: Apache-2.0
#include "heapfit/packing/lifetimes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "heapfit/error.hpp"
#include "heapfit/trace/follow.hpp"

namespace heapfit {

namespace {

struct Collect {
    std::vector<Lifetime> lifetimes;
    std::uint64_t end; // of what is never freed

    // The value of an object is the number of its lifetime, or `none` while it has size 0.
    static constexpr std::size_t none = SIZE_MAX;

    bool allocated(std::size_t i, const Event &event, std::size_t &number) {
        number = none;
        if (event.size > 0) {
            number = lifetimes.size();
            lifetimes.push_back({i, end, event.size});
        }
        return true;
    }

    bool freed(std::size_t i, const Event &, const std::size_t &number) {
        if (number != none) {
            lifetimes[number].until = i;
        }
        return true;
    }

    bool resized(std::size_t i, const Event &event, std::size_t &number) {
        return freed(i, event, number) && allocated(i, event, number);
    }
};

// An end before a start at the same time.
struct Edge {
    std::uint64_t time;
    bool is_start;
    std::size_t number;

    bool operator<(const Edge &other) const {
        return time != other.time ? time < other.time : is_start < other.is_start;
    }
};

std::vector<Edge> edges_of(std::span<const Lifetime> lifetimes) {
    std::vector<Edge> edges;
    edges.reserve(2 * lifetimes.size());
    for (std::size_t i = 0; i < lifetimes.size(); i++) {
        edges.push_back({lifetimes[i].from, true, i});
        edges.push_back({lifetimes[i].until, false, i});
    }
    std::sort(edges.begin(), edges.end());
    return edges;
}

} // namespace

std::vector<Lifetime> lifetimes_of(std::span<const Event> events) {
    Collect collect{{}, events.size()};
    ObjectTable<std::size_t> objects;
    follow_all(events, 0, objects, collect);
    return std::move(collect.lifetimes);
}

Bytes peak_of(std::span<const Lifetime> lifetimes) {
    Bytes live = 0;
    Bytes peak = 0;
    for (const Edge &edge : edges_of(lifetimes)) {
        live += edge.is_start ? lifetimes[edge.number].size : -lifetimes[edge.number].size;
        peak = std::max(peak, live);
    }
    return peak;
}

Bytes check_placement(std::span<const Lifetime> lifetimes, std::span<const Bytes> offsets) {
    if (lifetimes.size() != offsets.size()) {
        throw Error("placement: " + std::to_string(offsets.size()) + " offsets for " +
                    std::to_string(lifetimes.size()) + " lifetimes");
    }
    std::map<Bytes, Bytes> live; // where each live one begins, and ends
    Bytes height = 0;
    for (const Edge &edge : edges_of(lifetimes)) {
        const Bytes begin = offsets[edge.number];
        const Bytes end = begin + lifetimes[edge.number].size;
        if (!edge.is_start) {
            live.erase(begin);
            continue;
        }
        const auto after = live.lower_bound(begin);
        const bool hits_next = after != live.end() && after->first < end;
        const bool hits_last = after != live.begin() && std::prev(after)->second > begin;
        if (end < begin || hits_next || hits_last) {
            throw Error("placement: lifetime " + std::to_string(edge.number) +
                        " overlaps another in time and place");
        }
        live.emplace(begin, end);
        height = std::max(height, end);
    }
    return height;
}

} // namespace heapfit
