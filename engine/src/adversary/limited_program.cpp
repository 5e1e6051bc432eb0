// SPDX-License-Identifier: Apache-2.0
#include "adversary/limited_program.hpp"

#include <algorithm>

namespace heapfit {

LimitedProgram::LimitedProgram(const Plan &plan, const RegionSpec &region, const Limits &limits)
    : heap_(HostHeap::init(plan, region)), limits_(limits), live_of_(limits.sizes.size()) {}

bool LimitedProgram::ask(std::uint32_t size_number) {
    const Bytes size = limits_.sizes[size_number];
    const auto object = static_cast<ObjectId>(blocks_.size());
    events_.push_back({size, object, Op::alloc, 0, 0});
    const hfit_operations &operations = heap_.plan().operations();
    const hfit_plan *const plan = heap_.plan().raw();
    const auto *const block =
        static_cast<const std::byte *>(operations.alloc(heap_.get(), plan, size));
    if (block == nullptr) {
        is_refused_ = true;
        return false;
    }
    const auto begin =
        static_cast<std::uint64_t>(block - reinterpret_cast<const std::byte *>(heap_.get()));
    const std::uint64_t usable = heap_.usable_size(block, size);
    blocks_.push_back({begin, begin + usable, object, size_number});
    live_of_[size_number]++;
    live_ += size;
    return true;
}

void LimitedProgram::release(ObjectId object) {
    PlacedBlock &block = blocks_[object];
    heap_.free(reinterpret_cast<std::byte *>(heap_.get()) + block.begin,
               limits_.sizes[block.size_number]);
    events_.push_back({0, object, Op::free, 0, 0});
    block.end = 0;
    live_of_[block.size_number]--;
    live_ -= limits_.sizes[block.size_number];
}

std::vector<PlacedBlock> LimitedProgram::live_blocks() const {
    std::vector<PlacedBlock> live;
    std::ranges::copy_if(blocks_, std::back_inserter(live),
                         [](const PlacedBlock &block) { return block.end != 0; });
    std::ranges::sort(live, {}, &PlacedBlock::begin);
    return live;
}

} // namespace heapfit
