// SPDX-License-Identifier: Apache-2.0
#include "heapfit/trace/size_pairs.hpp"

namespace heapfit {

std::uint64_t SizePairs::allocate(std::uint64_t size) {
    live_[size].push_back(++last_);
    return last_;
}

std::uint64_t SizePairs::release(std::uint64_t size) {
    const auto equal = live_.find(size);
    if (equal == live_.end()) {
        return ++last_;
    }
    std::deque<std::uint64_t> &blocks = equal->second;
    const std::uint64_t freed = freed_ == Equal::oldest ? blocks.front() : blocks.back();
    freed_ == Equal::oldest ? blocks.pop_front() : blocks.pop_back();
    if (blocks.empty()) {
        live_.erase(equal);
    }
    return freed;
}

} // namespace heapfit
