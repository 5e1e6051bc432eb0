/* SPDX-License-Identifier: Apache-2.0 */
/* Powers of two cut from whole pages, header inside. See papers/djgpp_test2.h. */
#include "papers/djgpp_test2.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_djgpp_test2_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/logarithm.h"
#include "src/low_level.h"
#include "src/aligned.h"
#include "src/shifted_block.h"
#include "src/powers_of_two.h"
#include "src/class_stacks.h"

static inline uint32_t class_count(void) {
    return POWERS;
}

static inline uint32_t header_size(const hfit_plan *plan) {
    (void)plan;
    return TAG_SIZE;
}

static bool bin_for(const hfit_plan *plan, size_t size, uint32_t *bin) {
    const uint32_t least = plan->alignment < power_of(0) ? power_of(0) : plan->alignment;
    return power_for(size, TAG_SIZE, least, bin);
}

static uint32_t chunk_size(const hfit_plan *plan, uint32_t bin) {
    (void)plan;
    return power_of(bin);
}

static inline uint32_t step_of(const hfit_plan *plan) {
    return ((const hfit_djgpp_test2_plan *)plan)->step;
}

static inline bool gives_top_back(void) {
    return false;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    LOW_LEVEL_STEP_TUNABLE(hfit_djgpp_test2_plan, 12),
};

const hfit_allocator hfit_djgpp_test2_allocator = {
    .name = "djgpp_test2",
    .title = "DJGPP contest, test2: powers of two from pages",
    .origin = "Delorie, DJGPP malloc contest page, number inferred; Lee and Yi 2008, section V",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_djgpp_test2_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc: constant, but for 2 stores a block when a step is cut into "
                          "blocks; free: constant",
            .block_bytes = "4 for the header, then rounded up to a power of two: at most as much "
                           "again as the request and the header",
            .fragmentation = "2 M (1 + log2 n) for M live bytes and a largest request of n units, "
                             "headers apart: each power keeps its own peak, at most M doubled",
            .layout = "| break | end | footprint | stack of 8 B, 16 B, ... 2^31 B | chunk | ... | "
                      "not asked for |\n"
                      "a used chunk: | tag | payload ... |\n"
                      "a free chunk: | tag | next | ... |",
        },
    .axes =
        {
            .block_sizes.text = "powers of two",
            .splitting.text = "never",
            .coalescing.text = "never",
            .pools.text = "one for each block size",
            .pool_fit.text = "exact",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "in steps",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .operations = &hfit_djgpp_test2_operations,
    .unlocked = &hfit_djgpp_test2_unlocked,
};
