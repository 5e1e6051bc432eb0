// SPDX-License-Identifier: Apache-2.0
#include "heapfit/simulate/slot_buffer.hpp"

#include <algorithm>
#include <string>

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

// Adds what this thread did to heaps since it was made to a cost, at `note`.
class Metered {
  public:
    Metered() : before_(now()) {}

    void note(CallAccesses &cost) const {
        const std::uint64_t accesses = now() - before_;
        cost.calls++;
        cost.accesses += accesses;
        cost.worst = std::max(cost.worst, accesses);
    }

  private:
    static std::uint64_t now() { return heapfit_counts.loads + heapfit_counts.stores; }

    std::uint64_t before_;
};

void add_free_size(void *context, const void *, std::size_t usable_size, bool is_used) {
    if (!is_used) {
        static_cast<std::vector<std::uint32_t> *>(context)->push_back(
            static_cast<std::uint32_t>(usable_size));
    }
}

} // namespace

SlotBuffer::SlotBuffer(HostHeap heap, const SlotWorkload &workload)
    : heap_(std::move(heap)), random_(workload.seed), law_(workload.least, workload.most),
      walk_(workload.slots), slots_(workload.slots) {}

bool SlotBuffer::run(std::uint64_t loops) {
    for (; loops > 0 && !counts_.refused; --loops) {
        const SlotStep step = walk_.next(random_);
        Block &block = slots_[step.slot];
        if (step.was_occupied) {
            release(block);
        } else if (!fill(block)) {
            break;
        }
        counts_.loops++;
    }
    return !counts_.refused;
}

bool SlotBuffer::fill(Block &block) {
    const Bytes size = law_.draw(random_);
    const Metered metered;
    block = {heap_.plan().operations().alloc(heap_.get(), heap_.plan().raw(), size), size};
    if (block.address == nullptr) {
        counts_.refused = size;
        return false;
    }
    metered.note(counts_.alloc);
    counts_.live_blocks++;
    counts_.live += size;
    counts_.live_peak = std::max(counts_.live_peak, counts_.live);
    return true;
}

void SlotBuffer::release(Block &block) {
    const std::uint64_t misuses = heapfit_counts.misuses;
    const Metered metered;
    heap_.free(block.address, block.size);
    metered.note(counts_.free);
    if (heapfit_counts.misuses != misuses) {
        throw Error(std::string("slotbuf: ") + heap_.plan().allocator().name +
                    " refused to free a live block (a bug of the allocator: report it)");
    }
    counts_.live_blocks--;
    counts_.live -= block.size;
}

Bytes SlotBuffer::footprint() const {
    const UncountedAccesses uncounted;
    return heap_.footprint();
}

std::vector<std::uint32_t> SlotBuffer::free_sizes() const {
    const UncountedAccesses uncounted;
    const hfit_plan *const plan = heap_.plan().raw();
    std::vector<std::uint32_t> sizes;
    if (const auto tell = heap_.plan().allocator().free_sizes; tell != nullptr) {
        sizes.resize(tell(heap_.get(), plan, nullptr, 0));
        tell(heap_.get(), plan, sizes.data(), sizes.size());
    } else {
        heap_.plan().operations().walk(heap_.get(), plan, add_free_size, &sizes);
    }
    return sizes;
}

std::vector<std::uint64_t> draw_sizes(const SlotWorkload &workload, std::size_t count) {
    const SizeLaw law(workload.least, workload.most);
    Philox random(workload.seed);
    std::vector<std::uint64_t> sizes(count);
    for (std::uint64_t &size : sizes) {
        size = law.draw(random);
    }
    return sizes;
}

} // namespace heapfit
