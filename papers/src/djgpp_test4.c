/* SPDX-License-Identifier: Apache-2.0 */
/* Both tags, fixed pieces of storage. See papers/djgpp_test4.h. */
#include "papers/djgpp_test4.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_djgpp_test4_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#include "src/cut_chunk.h"
#include "src/logarithm.h"
#include "src/low_level.h"
#include "src/both_tags.h"

static inline uint32_t more_control(void) {
    return 0;
}

static inline uint32_t save_extra(void) {
    return 16;
}

static inline uint32_t step_of(const hfit_plan *plan) {
    return ((const hfit_djgpp_test4_plan *)plan)->step;
}

static inline bool prefers_close_fit(void) {
    return false;
}

static inline bool keeps_bin(void) {
    return false;
}

static uint32_t next_bin(const hfit_heap *heap, uint32_t bin) {
    return scan_bins(heap, bin);
}

static inline void bin_changed(hfit_heap *heap, uint32_t bin, bool is_empty) {
    (void)heap;
    (void)bin;
    (void)is_empty;
}

static inline bool is_own_control_sound(const hfit_heap *heap) {
    (void)heap;
    return true;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    LOW_LEVEL_STEP_TUNABLE(hfit_djgpp_test4_plan, 14),
};

const hfit_allocator hfit_djgpp_test4_allocator = {
    .name = "djgpp_test4",
    .title = "DJGPP contest, test4: lists by powers of two",
    .origin = "Delorie, DJGPP malloc contest page, number inferred; Lee and Yi 2008, section V",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_djgpp_test4_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc: one step a chunk passed over in the lists; free: constant, but "
                          "for one step a chunk before each joined neighbour in its list",
            .block_bytes = "8 for the tags, then rounded up to the alignment; at least 16 a chunk",
            .fragmentation = "none published; a search that is first fit within lists by powers of "
                             "two",
            .layout =
                "| break | end | footprint | slop | 30 bins | used | chunk | ... | used | ... |\n"
                "a used chunk: | size+U | payload ... | size+U |\n"
                "a free chunk: | size | next | ... | size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "by power of two",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "first",
            .order.text = "last freed first",
            .growth.text = "in steps",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .operations = &hfit_djgpp_test4_operations,
    .unlocked = &hfit_djgpp_test4_unlocked,
};
