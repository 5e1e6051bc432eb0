/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of an allocator: what its source defines, without lock and checks of the whole heap,
 * which src/operations/operations.h puts around it.
 */
#ifndef HFIT_WORK_H
#define HFIT_WORK_H

#include "hfit/contract.h"

#include "src/region.h"

/* Each as its namesake in hfit_operations. */
static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan);
static size_t heap_smallest_region(const hfit_plan *plan);
static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size);
static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block);
static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size);
static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size);
static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size);
static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block);
static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context);
static bool heap_check(const hfit_heap *heap, const hfit_plan *plan);
static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan);

/* For sources that serve requests with tags of call sites: HFIT_TAKES_TAGS is 1, and this is their
 * own. */
#ifndef HFIT_TAKES_TAGS
static inline void *heap_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                  uint32_t tag) {
    (void)tag;
    return heap_alloc(heap, plan, size);
}
#else
static void *heap_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size, uint32_t tag);
#endif

/* For sources whose blocks lie in pieces: HFIT_IN_PIECES is 1, and this is their own, as
 * `next_piece` of hfit_allocator. Elsewhere the block is its own piece. */
#ifndef HFIT_IN_PIECES
#define HFIT_IN_PIECES 0
static inline void *heap_next_piece(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                                    const void *piece, size_t *size) {
    (void)heap, (void)plan;
    *size = SIZE_MAX;
    return piece == NULL ? (void *)(uintptr_t)block : NULL;
}
#else
static void *heap_next_piece(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                             const void *piece, size_t *size);
#endif

/* For sources whose callers hand sizes over: HFIT_NEEDS_SIZE is 1, and this is their own. Elsewhere
 * the heap knows them. */
#ifndef HFIT_NEEDS_SIZE
#define HFIT_NEEDS_SIZE 0
static inline void *heap_resize_sized(hfit_heap *heap, const hfit_plan *plan, void *block,
                                      size_t old_size, size_t size) {
    (void)old_size;
    return heap_resize(heap, plan, block, size);
}
#else
static void *heap_resize_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t old_size,
                               size_t size);
#endif

/* For heap_resize: moves a block of `usable` bytes to a new one of `size` bytes. NULL, and nothing
 * moved, if there is none. */
static inline void *move_block(hfit_heap *heap, const hfit_plan *plan, void *block, size_t usable,
                               size_t size) {
    void *moved = heap_alloc(heap, plan, size);
    if (moved != NULL) {
        copy_payload(moved, block, usable < size ? usable : size);
        heap_free(heap, plan, block);
    }
    return moved;
}

#endif
