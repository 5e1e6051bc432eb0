/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of an allocator: what its source defines, without lock and checks of the whole heap,
 * which src/operations/operations.h puts around it.
 */
#ifndef HFIT_WORK_H
#define HFIT_WORK_H

#include "hfit/contract.h"

#include "src/size.h"
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
static inline void *heap_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size, uint32_t tag,
                                  size_t *usable) {
    (void)tag, (void)usable;
    return heap_alloc(heap, plan, size);
}
#else
static void *heap_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size, uint32_t tag,
                           size_t *usable);
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

/* For sources that find a block's usable bytes on the way of alloc and free:
 * HFIT_TELLS_USABLE is 1, and these are their own, of which the plain ones are made; alloc takes
 * NULL for `usable`, which else is 0 before. Elsewhere a look-up tells. */
#ifndef HFIT_TELLS_USABLE
static inline void *heap_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                      size_t *usable) {
    void *block = heap_alloc(heap, plan, size);
    *usable = block == NULL ? 0 : heap_usable_size(heap, plan, block);
    return block;
}

static inline size_t heap_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block) {
    const size_t usable = block == NULL ? 0 : heap_usable_size(heap, plan, block);
    if (usable != 0) {
        heap_free(heap, plan, block);
    }
    return usable;
}
#else
static void *heap_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size, size_t *usable);
static size_t heap_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block);

static inline void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    return heap_alloc_usable(heap, plan, size, NULL);
}

static FORCE_INLINE void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    (void)heap_free_usable(heap, plan, block);
}
#endif

/* The bytes before and after are looked up, in usable[0] and usable[1]: told on the way of a resize
 * they would count in the bound of a plain one, which never asks. */
static inline void *heap_resize_usable(hfit_heap *heap, const hfit_plan *plan, void *block,
                                       size_t size, size_t usable[2]) {
    usable[0] = block == NULL ? 0 : heap_usable_size(heap, plan, block);
    void *resized = block == NULL || usable[0] != 0 ? heap_resize(heap, plan, block, size) : NULL;
    usable[1] = resized == NULL ? usable[0] : heap_usable_size(heap, plan, resized);
    return resized;
}

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
