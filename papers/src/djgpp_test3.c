/* SPDX-License-Identifier: Apache-2.0 */
/* Four classes in each power of two, and a break that comes down. See papers/djgpp_test3.h. */
#include "papers/djgpp_test3.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_djgpp_test3_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/logarithm.h"
#include "src/low_level.h"
#include "src/aligned.h"
#include "src/shifted_block.h"
#include "src/class_stacks.h"

enum { LOG2_LEAST = 2 }; /* a link takes 4 bytes */

static inline uint32_t class_count(void) {
    return 4 * (32 - LOG2_LEAST);
}

static inline uint32_t header_size(const hfit_plan *plan) {
    (void)plan;
    return TAG_SIZE;
}

/* Bin 4 * b + q holds blocks of 2^(b+2) bytes and q quarters of that. */
static bool bin_for(const hfit_plan *plan, size_t size, uint32_t *bin) {
    uint32_t needed;
    (void)plan;
    if (!round_size(size, 0, 1u << LOG2_LEAST, &needed)) {
        return false;
    }
    const uint32_t row = log2_down(needed) - LOG2_LEAST;
    const uint32_t quarters = (needed + (1u << row) - 1) >> row; /* 4 to 8 */
    *bin = 4 * row + quarters - 4;
    return true;
}

static uint32_t chunk_size(const hfit_plan *plan, uint32_t bin) {
    const uint32_t mask = plan->alignment - 1;
    return (((4 + bin % 4) << bin / 4) + TAG_SIZE + mask) & ~mask;
}

static inline uint32_t step_of(const hfit_plan *plan) {
    (void)plan;
    return 0;
}

static inline bool gives_top_back(void) {
    return true;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_djgpp_test3_allocator = {
    .name = "djgpp_test3",
    .title = "DJGPP contest, test3: quarters of powers of two",
    .origin = "Delorie, DJGPP malloc contest page, number inferred; Lee and Yi 2008, section V",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc and free: constant",
            .block_bytes = "rounded up to a quarter of its power of two, so less than "
                           "a quarter more, then 4 for the header, rounded up to the alignment",
            .fragmentation = "1.25 M (1 + 4 log2 n) for M live bytes and a largest request of n "
                             "units, headers apart: each class keeps its own peak",
            .layout =
                "| break | end | footprint | stack of each class | chunk | ... | not asked for |\n"
                "a used chunk: | tag | payload ... |\n"
                "a free chunk: | tag | next | ... |",
        },
    .axes =
        {
            .block_sizes.text = "quarters of powers of two",
            .splitting.text = "never",
            .coalescing.text = "never",
            .pools.text = "one for each block size",
            .pool_fit.text = "exact",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "from the end of what is in use",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .operations = &hfit_djgpp_test3_operations,
    .unlocked = &hfit_djgpp_test3_unlocked,
};
