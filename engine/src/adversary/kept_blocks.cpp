// SPDX-License-Identifier: Apache-2.0
// Shortest path: the least that is kept up to a block and with it, over the kept block before.
#include "adversary/kept_blocks.hpp"

#include <algorithm>
#include <deque>
#include <limits>

namespace heapfit {

namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

struct Path {
    std::uint64_t kept; // bytes up to this block and with it
    std::size_t before; // the kept block before, or none
};

} // namespace

std::vector<bool> fewest_kept(std::span<const PlacedBlock> blocks, std::uint64_t hole) {
    std::vector<Path> paths;
    std::deque<std::size_t> open; // may be the kept block before; their bytes ascend
    const std::uint64_t start = blocks.empty() ? 0 : blocks.front().begin;
    for (std::size_t i = 0; i < blocks.size(); i++) {
        while (!open.empty() && blocks[open.front()].end + hole <= blocks[i].begin) {
            open.pop_front();
        }
        Path path{0, none};
        if (blocks[i].begin >= start + hole) {
            const std::size_t before = open.empty() ? i - 1 : open.front();
            path = {paths[before].kept, before};
        }
        path.kept += blocks[i].end - blocks[i].begin;
        paths.push_back(path);
        while (!open.empty() && paths[open.back()].kept >= path.kept) {
            open.pop_back();
        }
        open.push_back(i);
    }
    std::vector<bool> is_kept(blocks.size());
    for (std::size_t i = blocks.size() - 1; i < blocks.size(); i = paths[i].before) {
        is_kept[i] = true;
    }
    return is_kept;
}

} // namespace heapfit
