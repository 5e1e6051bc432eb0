/* SPDX-License-Identifier: Apache-2.0 */
/* Kingsley's powers of two, header inside. See baselines/kingsley.h. */
#include "baselines/kingsley.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_kingsley_##operation
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
    return plan->alignment;
}

/* A free block needs its header and a link. */
static bool bin_for(const hfit_plan *plan, size_t size, uint32_t *bin) {
    return power_for(size, header_size(plan), 2 * plan->alignment, bin);
}

static uint32_t chunk_size(const hfit_plan *plan, uint32_t bin) {
    (void)plan;
    return power_of(bin);
}

static inline uint32_t step_of(const hfit_plan *plan) {
    return ((const hfit_kingsley_plan *)plan)->step;
}

static inline bool gives_top_back(void) {
    return false;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    LOW_LEVEL_STEP_TUNABLE(hfit_kingsley_plan, 12),
};

const hfit_allocator hfit_kingsley_allocator = {
    .name = "kingsley",
    .title = "powers of two, never joined",
    .origin = "Kingsley 1982 (4.2BSD), after Wilson et al. 1995, section 3.6",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_kingsley_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc: constant, but for 2 stores a block when a step is cut into "
                          "blocks; free: constant",
            .block_bytes = "a header of the alignment, then rounded up to a power of two: at most "
                           "as much again as the request and the header",
            .fragmentation = "2 M (1 + log2 n) for M live bytes and a largest request of n units, "
                             "headers apart: each power keeps its own peak, at most M doubled",
            .layout = "| break | end | footprint | stack of 8 B, 16 B, ... 2^31 B | chunk | ... | "
                      "not asked for |\n"
                      "a used chunk: | padding | tag | payload ... |\n"
                      "a free chunk: | padding | tag | next | ... |",
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
    .operations = &hfit_kingsley_operations,
    .unlocked = &hfit_kingsley_unlocked,
};
