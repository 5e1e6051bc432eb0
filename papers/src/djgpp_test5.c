/* SPDX-License-Identifier: Apache-2.0 */
/* As test4, with a map of the lists. See papers/djgpp_test5.h. */
#include "papers/djgpp_test5.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_djgpp_test5_##operation
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
    return 4;
}

static inline uint32_t save_extra(void) {
    return 16;
}

enum { BIN_MAP = OWN_CONTROL };

static inline uint32_t step_of(const hfit_plan *plan) {
    return ((const hfit_djgpp_test5_plan *)plan)->step;
}

static inline bool prefers_close_fit(void) {
    return false;
}

static inline bool keeps_bin(void) {
    return false;
}

static uint32_t next_bin(const hfit_heap *heap, uint32_t bin) {
    const uint32_t filled = bin < BIN_COUNT ? load_word(heap, BIN_MAP) & (~0u << bin) : 0;
    return filled == 0 ? BIN_COUNT : hfit_trailing_zeros(filled);
}

static inline void bin_changed(hfit_heap *heap, uint32_t bin, bool is_empty) {
    const uint32_t others = load_word(heap, BIN_MAP) & ~(1u << bin);
    store_word(heap, BIN_MAP, others | (is_empty ? 0u : 1u) << bin);
}

static inline bool is_own_control_sound(const hfit_heap *heap) {
    uint32_t filled = 0;
    for (uint32_t bin = 0; bin < BIN_COUNT; bin++) {
        filled |= (load_word(heap, head_of(bin)) != NO_OFFSET ? 1u : 0u) << bin;
    }
    return load_word(heap, BIN_MAP) == filled;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    LOW_LEVEL_STEP_TUNABLE(hfit_djgpp_test5_plan, 14),
};

const hfit_allocator hfit_djgpp_test5_allocator = {
    .name = "djgpp_test5",
    .title = "DJGPP contest, test5: as test4, by a map",
    .origin = "inferred; Lee and Yi 2008, section V, tell that it needs the memory of test4",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_djgpp_test5_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc: one step a chunk passed over in the lists; free: constant, but "
                          "for one step a chunk before each joined neighbour in its list",
            .block_bytes = "8 for the tags, then rounded up to the alignment; at least 16 a chunk",
            .fragmentation = "none published; a search that is first fit within lists by powers of "
                             "two",
            .layout = "| break | end | footprint | slop | 30 bins | map | used | chunk | ... | "
                      "used | ... |\n"
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
    .operations = &hfit_djgpp_test5_operations,
    .unlocked = &hfit_djgpp_test5_unlocked,
};
