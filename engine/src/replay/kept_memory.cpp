// SPDX-License-Identifier: Apache-2.0
// Mappings that were given back, the last one taken first; see kept_memory.hpp.
#include "heapfit/replay/kept_memory.hpp"

#include <algorithm>
#include <bit>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#ifdef _WIN32
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <sys/mman.h>
#endif

#include "heapfit/error.hpp"

namespace heapfit {

namespace {

#ifdef _WIN32
// All of it counts against what the machine may commit, touched or not: Windows promises no more.
std::byte *map(std::size_t size) {
    return static_cast<std::byte *>(
        VirtualAlloc(nullptr, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
}

void unmap(std::byte *start, std::size_t) {
    VirtualFree(start, 0, MEM_RELEASE);
}
#else
// nullptr if there is no such address space.
std::byte *map(std::size_t size) {
    void *const address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? nullptr : static_cast<std::byte *>(address);
}

void unmap(std::byte *start, std::size_t size) {
    ::munmap(start, size);
}
#endif

constexpr std::size_t most_kept = std::size_t{64} << 20; // bytes of all
constexpr std::size_t most_mappings = 64;
constexpr std::size_t most_spare = 8; // times what is asked for: so much larger is left for others

class Kept {
  public:
    Kept() = default;
    Kept(const Kept &) = delete;
    Kept &operator=(const Kept &) = delete;
    ~Kept() {
        for (const auto &[start, size] : mappings_) {
            unmap(start, size);
        }
    }

    // nullptr if none fits.
    std::byte *take(std::size_t &size) {
        const std::lock_guard lock(mutex_);
        const auto fits = [size](const auto &one) {
            return one.second >= size && one.second / most_spare <= size;
        };
        const auto found = std::find_if(mappings_.rbegin(), mappings_.rend(), fits);
        if (found == mappings_.rend()) {
            return nullptr;
        }
        std::byte *const start = found->first;
        size = found->second;
        bytes_ -= size;
        mappings_.erase(std::next(found).base());
        return start;
    }

    // False if it is too large to be kept.
    bool keep(std::byte *start, std::size_t size) {
        if (size > most_kept) {
            return false;
        }
        const std::lock_guard lock(mutex_);
        mappings_.emplace_back(start, size);
        bytes_ += size;
        while (bytes_ > most_kept || mappings_.size() > most_mappings) {
            unmap(mappings_.front().first, mappings_.front().second);
            bytes_ -= mappings_.front().second;
            mappings_.erase(mappings_.begin());
        }
        return true;
    }

  private:
    std::mutex mutex_;
    std::vector<std::pair<std::byte *, std::size_t>> mappings_; // in the order they came
    std::size_t bytes_ = 0;
};

Kept kept;

} // namespace

void KeptMemory::operator()(std::byte *mapping) const {
    if (!kept.keep(mapping, size)) {
        unmap(mapping, size);
    }
}

Memory memory_of(std::size_t size) {
    if (std::byte *const start = kept.take(size)) {
        return {start, KeptMemory{size}};
    }
    if (size <= most_kept) {
        size = std::bit_ceil(size); // a search goes on to regions that are a little larger
    }
    std::byte *const start = map(size);
    if (start == nullptr) {
        throw Error("region: this machine has no " + std::to_string(size) +
                    " bytes of address space left (raise the limit, see ulimit -v)");
    }
    return {start, KeptMemory{size}};
}

} // namespace heapfit
