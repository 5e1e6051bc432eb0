// SPDX-License-Identifier: Apache-2.0
// Any bytes are a program for a heap of any plan of any of core's allocators, which must agree with
// the contract's model after every step: see tests/attack/heap_program.h. tests/attack/heap.c runs
// the same with bytes from a seed.
#include <cstddef>
#include <cstdint>

extern "C" {
#include "attack/heap_program.h"
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *bytes, std::size_t size) {
    program_count count{};
    run_heap_program(nullptr, bytes, size, &count);
    return 0;
}
