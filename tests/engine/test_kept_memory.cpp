// SPDX-License-Identifier: Apache-2.0
// Memory that was given back is kept for the next that asks, and of it no more than so much.
#include "heapfit/replay/kept_memory.hpp"

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <vector>

#include "check.hpp"

using namespace heapfit;

namespace {

constexpr std::int64_t kib = 1024;
constexpr std::int64_t mib = 1024 * kib;

// Bytes of address space that this process has.
std::int64_t mapped() {
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    return pages * 4 * kib;
}

// How much more is mapped than before so many mappings of a size were made and given back.
std::int64_t kept_of(std::int64_t count, std::int64_t size) {
    std::vector<Memory> held(static_cast<std::size_t>(count));
    const std::int64_t before = mapped();
    for (Memory &memory : held) {
        memory = memory_of(static_cast<std::size_t>(size));
    }
    CHECK(mapped() - before >= count * size);
    held.clear();
    return mapped() - before;
}

TEST(what_is_given_back_serves_the_next) {
    const std::byte *first = nullptr;
    {
        const Memory memory = memory_of(3 * mib);
        first = memory.get();
    }
    CHECK(memory_of(2 * mib).get() == first);
}

TEST(at_most_64_mebibytes_and_64_mappings_are_kept) {
    CHECK(kept_of(1000, 4 * kib) <= 64 * 4 * kib);
    CHECK(kept_of(3, 64 * mib) <= 64 * mib);
    CHECK(kept_of(3, 65 * mib) <= 0); // one that is larger than all that is kept
}

} // namespace
