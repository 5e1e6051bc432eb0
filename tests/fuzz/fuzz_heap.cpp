// SPDX-License-Identifier: Apache-2.0
// Any bytes are a program for a heap of any plan of any of core's allocators, which must agree with
// the contract's model after every step: see tests/attack/heap_program.h. tests/attack/heap.c runs
// the same with bytes from a seed.
//
//   clang -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
//       -DHFIT_CONFIG_FILE='"contract_config.h"' -DHFIT_SAFETY=1
//       -Itests -Itests/contract -Icore/include -Icore -Ibaselines/include
//       tests/fuzz/fuzz_heap.cpp tests/attack/{heap_program,random_plans}.c
//       tests/contract/{model,hooks}.c core/src/registry.c core/src/pools/pools.c
//       core/src/tiling/{first_fit,segregated_fit,tlsf,best_fit}.c core/src/tailored/tailored.c
//       core/src/pools/{class_pools,budgeted,fixed_pool}.c
//       core/src/partitions/{partition_pool,chained_pool}.c -o fuzz_heap
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
