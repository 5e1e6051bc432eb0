/* SPDX-License-Identifier: Apache-2.0 */
/* Both tags, storage block by block. See papers/djgpp_test6.h. */
#include "papers/djgpp_test6.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_djgpp_test6_##operation
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
    return 64;
}

static inline uint32_t step_of(const hfit_plan *plan) {
    (void)plan;
    return 0;
}

static inline bool prefers_close_fit(void) {
    return true;
}

static inline bool keeps_bin(void) {
    return true;
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
};

const hfit_allocator hfit_djgpp_test6_allocator = {
    .name = "djgpp_test6",
    .title = "DJGPP contest, test6: DJGPP 2.02",
    .origin = "Delorie, DJGPP malloc contest page and DJGPP 2.02, number inferred; Lee and Yi "
              "2008, section V",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc: one step a chunk passed over in the lists; free: constant, but "
                          "for one step a chunk before each joined neighbour in its list",
            .block_bytes = "8 for the tags, then rounded up to the alignment; at least 16 a chunk; "
                           "8 more in fresh storage",
            .fragmentation = "none published; a search that is first fit within lists by powers of "
                             "two",
            .layout =
                "| break | end | footprint | slop | 30 bins | used | chunk | ... | used | ... |\n"
                "a used chunk: | size+U | payload ... | size+U |\n"
                "a free chunk: | size | next | bin | ... | size |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "64 B or more",
            .coalescing.text = "at once",
            .pools.text = "by power of two",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "close, then first",
            .order.text = "last freed first",
            .growth.text = "from the end of what is in use",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .operations = &hfit_djgpp_test6_operations,
    .unlocked = &hfit_djgpp_test6_unlocked,
};
