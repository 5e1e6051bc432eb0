// SPDX-License-Identifier: Apache-2.0
// Memory for regions and for copies of them, which is kept when it is given back: a search makes
// thousands of heaps, and the first touch of a megabyte's pages costs more than a trial in it. All
// threads share what is kept, as a search has a thread for each few trials.
#pragma once

#include <cstddef>
#include <memory>

namespace heapfit {

struct KeptMemory {
    std::size_t size; // of the mapping
    void operator()(std::byte *mapping) const;
};

// A mapping; what it holds are any bytes. Pages that were never touched take address space only.
using Memory = std::unique_ptr<std::byte, KeptMemory>;

// Of at least `size` bytes, on a page's start. Throws Error if the machine has no such address
// space.
[[nodiscard]] Memory memory_of(std::size_t size);

} // namespace heapfit
