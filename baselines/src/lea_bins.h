/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lea's control words, and its bins of small free chunks beside the trees of large ones.
 */
#ifndef BASELINES_LEA_BINS_H
#define BASELINES_LEA_BINS_H

#include "src/lea_tree.h"
#include "src/tiling/free_list.h"

enum {
    TOP = 0,
    END = 4,
    FOOTPRINT = 8,
    VICTIM = 12,
    SMALL_MAP = 16,
    TREE_MAP = 20,
    SMALL_BINS = 24,
    SMALL_COUNT = 32,
    TREE_ROOTS = SMALL_BINS + 4 * SMALL_COUNT,
    CONTROL_SIZE = TREE_ROOTS + 4 * TREES,
    HEADER_SIZE = 4,
    CHUNK_LEAST = 16,
    USED = 1,
    PREVIOUS_USED = 2,
};

static inline uint32_t root_of(uint32_t tree) {
    return TREE_ROOTS + 4 * tree;
}

static inline uint32_t tree_map(void) {
    return TREE_MAP;
}

static inline uint32_t alignment_log2(const hfit_plan *plan) {
    return (uint32_t)__builtin_ctz(plan->alignment);
}

static inline uint32_t least_tree_log2(const hfit_plan *plan) {
    return alignment_log2(plan) + 5; /* log2 of SMALL_COUNT */
}

static inline bool is_small(const hfit_plan *plan, uint32_t size) {
    return size >> least_tree_log2(plan) == 0;
}

static inline uint32_t bin_of(const hfit_plan *plan, uint32_t size) {
    return size >> alignment_log2(plan);
}

static inline uint32_t head_of(uint32_t bin) {
    return SMALL_BINS + 4 * bin;
}

static inline uint32_t first_chunk(const hfit_plan *plan) {
    const uint32_t mask = plan->alignment - 1;
    return ((CONTROL_SIZE + HEADER_SIZE + mask) & ~mask) - HEADER_SIZE;
}

static void insert_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    if (is_small(plan, size)) {
        const uint32_t bin = bin_of(plan, size);
        list_push(heap, head_of(bin), chunk);
        store_word(heap, SMALL_MAP, load_word(heap, SMALL_MAP) | 1u << bin);
    } else {
        tree_insert(heap, plan, chunk, size);
    }
}

static void remove_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    if (is_small(plan, size)) {
        const uint32_t bin = bin_of(plan, size);
        if (list_remove(heap, head_of(bin), chunk)) {
            store_word(heap, SMALL_MAP, load_word(heap, SMALL_MAP) & ~(1u << bin));
        }
    } else {
        tree_remove(heap, plan, chunk, size);
    }
}

static uint32_t pop_small(hfit_heap *heap, uint32_t bin) {
    uint32_t chunk;
    if (list_pop(heap, head_of(bin), &chunk)) {
        store_word(heap, SMALL_MAP, load_word(heap, SMALL_MAP) & ~(1u << bin));
    }
    return chunk;
}

#endif
