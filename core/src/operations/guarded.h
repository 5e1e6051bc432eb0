/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Safety level 3: the work of an allocator, heap_*, with canaries behind blocks, freed blocks that
 * are filled and wait, and sizes to the byte. One text for all allocators.
 *
 *   hfit_<name>_free -> guarded_free -> canary holds? -> clear, wait -> the one that waited leaves
 *                                                                       -> heap_free
 *
 * Whatever would be refused for want of room lets blocks that wait leave, one by one, until it is
 * served: waiting costs no region.
 */
#ifndef HFIT_GUARDED_H
#define HFIT_GUARDED_H

#include "hfit/config.h"
#include "hfit/contract.h"

#include "src/operations/work.h"
#include "src/operations/canary.h"
#include "src/operations/quarantine.h"
#include "src/region.h"
#include "src/size.h"

/* A request as it came. */
typedef struct guarded_request {
    size_t size;
    size_t alignment; /* 0: the plan's */
    uint32_t tag;
} guarded_request;

static size_t guarded_smallest_region(const hfit_plan *plan) {
    const size_t inner = heap_smallest_region(plan);
    return inner != 0 && inner <= UINT32_MAX - GUARD_SIZE ? inner + GUARD_SIZE : 0;
}

static hfit_heap *guarded_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || region_size < GUARD_SIZE ||
        heap_init(inner_of(region), region_size - GUARD_SIZE, plan) == NULL) {
        return NULL;
    }
    init_guard(region);
    return region;
}

/* Makes what the inner heap handed out a block of `size` bytes; NULL stays NULL. */
static void *guard_block(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    hfit_heap *inner = inner_of(heap);
    const size_t usable = block == NULL ? 0 : heap_usable_size(inner, plan, block);
    guarded_block b;
    if (!find_guard(heap, plan, block, usable, &b)) {
        return NULL;
    }
    seal_live(inner, &b, size == 0 ? 1 : (uint32_t)size);
    return block;
}

static void *take_inner(hfit_heap *inner, const hfit_plan *plan, const guarded_request *r,
                        uint32_t bytes) {
    if (r->alignment != 0) {
        return heap_alloc_aligned(inner, plan, r->alignment, bytes);
    }
    return r->tag != 0 ? heap_alloc_at(inner, plan, bytes, r->tag, NULL)
                       : heap_alloc(inner, plan, bytes);
}

static void *take_guarded(hfit_heap *heap, const hfit_plan *plan, const guarded_request *r) {
    uint32_t bytes;
    void *block;
    if (!round_size(r->size, GUARD_A_BLOCK, 1, &bytes)) {
        return NULL;
    }
    do {
        block = take_inner(inner_of(heap), plan, r, bytes);
    } while (block == NULL && release_one(heap, plan));
    return guard_block(heap, plan, block, r->size);
}

static void *guarded_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    const guarded_request request = {size, 0, 0};
    return take_guarded(heap, plan, &request);
}

/* What a block of `size` bytes is, to the byte; 0 if it is none. */
static inline size_t guarded_size(const void *block, size_t size) {
    return block == NULL ? 0 : size + (size == 0);
}

static inline void *guarded_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                         size_t *usable) {
    void *block = guarded_alloc(heap, plan, size);
    *usable = guarded_size(block, size);
    return block;
}

static inline void *guarded_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                     uint32_t tag, size_t *usable) {
    const guarded_request request = {size, 0, tag};
    void *block = take_guarded(heap, plan, &request);
    *usable = guarded_size(block, size);
    return block;
}

static void *guarded_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                   size_t size) {
    const guarded_request request = {size, alignment, 0};
    return is_power_of_two(alignment) ? take_guarded(heap, plan, &request) : NULL;
}

/* Stores what is known of a live block. False, which has been told, if `block`, which is not NULL,
 * is none or was written beyond. */
static bool find_guarded(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                         guarded_block *b) {
    const size_t usable = heap_usable_size(inner_of(heap), plan, block);
    if (usable == 0) {
        return false; /* which the inner heap has told */
    }
    if (!find_guard(heap, plan, block, usable, b)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_FOREIGN, block);
        return false;
    }
    if (b->size == WAITING || guard_state(b) != BLOCK_LIVE) {
        HFIT_ON_MISUSE(heap, b->size == WAITING ? HFIT_MISUSE_NOT_LIVE : HFIT_MISUSE_DAMAGED,
                       block);
        return false;
    }
    return true;
}

static size_t guarded_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block) {
    guarded_block b;
    if (block == NULL || !find_guarded(heap, plan, block, &b)) {
        return 0;
    }
    const uint32_t size = b.size;
    let_wait(heap, plan, &b);
    return size;
}

static inline void guarded_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    (void)guarded_free_usable(heap, plan, block);
}

/* True if callers hand no sizes over, or this is the one that the block's last word tells. What
 * else it is has been told. */
static bool is_size_of(const hfit_heap *heap, const guarded_block *b, size_t size) {
    if (!HFIT_NEEDS_SIZE || b->size == (size == 0 ? 1 : size)) {
        return true;
    }
    HFIT_ON_MISUSE(heap, HFIT_MISUSE_NOT_LIVE, b->block);
    return false;
}

static void guarded_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    guarded_block b;
    if (block != NULL && find_guarded(heap, plan, block, &b) && is_size_of(heap, &b, size)) {
        let_wait(heap, plan, &b);
    }
}

static size_t guarded_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    guarded_block b;
    return block != NULL && find_guarded(heap, plan, block, &b) ? b.size : 0;
}

/* Another block for `bytes` bytes, guard included, with the contents of `b`, which then waits.
 * NULL, and nothing changed, if none is free. */
static void *move_guarded(hfit_heap *heap, const hfit_plan *plan, guarded_block *b, uint32_t bytes,
                          size_t size) {
    void *moved = heap_alloc(inner_of(heap), plan, bytes);
    if (moved != NULL) {
        copy_payload(moved, b->block, b->size < size ? b->size : size);
        (void)guard_block(heap, plan, moved, size);
        let_wait(heap, plan, b);
    }
    return moved;
}

/* What need not be longer stays; a shorter one moves if that at least halves it, so that what is
 * left of it is filled like any freed block. */
static void *shrink_guarded(hfit_heap *heap, const hfit_plan *plan, guarded_block *b,
                            uint32_t bytes, size_t size) {
    hfit_heap *inner = inner_of(heap);
    void *block = (void *)(uintptr_t)b->block;
    if (!HFIT_IN_PIECES && bytes <= b->room / 2) {
        void *moved = move_guarded(heap, plan, b, bytes, size);
        if (moved != NULL) {
            return moved;
        }
    }
    const uint32_t kept = b->size < size ? b->size : (uint32_t)size;
    (void)for_bytes(b, kept, b->room, fill_bytes);
    if (HFIT_IN_PIECES) {
        store_word(inner, b->tail, 0);
        (void)heap_resize(inner, plan, block, bytes);
    }
    return guard_block(heap, plan, block, size);
}

/* A block in pieces never moves; any other one does if a longer one is free, and else is made
 * longer by what lies beside it. */
static void *grow_guarded(hfit_heap *heap, const hfit_plan *plan, guarded_block *b, uint32_t bytes,
                          size_t size) {
    void *block = (void *)(uintptr_t)b->block;
    void *grown;
    do {
        void *moved = HFIT_IN_PIECES ? NULL : move_guarded(heap, plan, b, bytes, size);
        if (moved != NULL) {
            return moved;
        }
        grown = heap_resize(inner_of(heap), plan, block, bytes);
    } while (grown == NULL && release_one(heap, plan));
    return guard_block(heap, plan, grown, size);
}

static void *resize_guarded(hfit_heap *heap, const hfit_plan *plan, guarded_block *b, size_t size) {
    uint32_t bytes;
    if (!round_size(size, GUARD_A_BLOCK, 1, &bytes)) {
        return NULL;
    }
    return bytes <= b->room + TAIL_SIZE ? shrink_guarded(heap, plan, b, bytes, size)
                                        : grow_guarded(heap, plan, b, bytes, size);
}

static void *guarded_resize_usable(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size,
                                   size_t usable[2]) {
    guarded_block b;
    usable[0] = usable[1] = 0;
    if (block == NULL) {
        return guarded_alloc_usable(heap, plan, size, &usable[1]);
    }
    if (!find_guarded(heap, plan, block, &b)) {
        return NULL;
    }
    usable[0] = b.size;
    void *resized = resize_guarded(heap, plan, &b, size);
    usable[1] = resized == NULL ? usable[0] : guarded_size(resized, size);
    return resized;
}

static inline void *guarded_resize(hfit_heap *heap, const hfit_plan *plan, void *block,
                                   size_t size) {
    size_t usable[2];
    return guarded_resize_usable(heap, plan, block, size, usable);
}

static void *guarded_resize_sized(hfit_heap *heap, const hfit_plan *plan, void *block,
                                  size_t old_size, size_t size) {
    guarded_block b;
    if (block == NULL) {
        return guarded_alloc(heap, plan, size);
    }
    return find_guarded(heap, plan, block, &b) && is_size_of(heap, &b, old_size)
               ? resize_guarded(heap, plan, &b, size)
               : NULL;
}

/* A walk over the inner heap, told on or counted. */
typedef struct guarded_tour {
    const hfit_heap *heap;
    const hfit_plan *plan;
    hfit_visitor visitor; /* NULL: it is checked */
    void *context;
    uint32_t waiting;
    bool is_sound;
} guarded_tour;

static void tell_guarded(void *context, const void *block, size_t usable_size, bool is_used) {
    const guarded_tour *w = context;
    size_t size = usable_size < GUARD_A_BLOCK ? 0 : usable_size - GUARD_A_BLOCK;
    guarded_block b;
    if (is_used && find_guard(w->heap, w->plan, block, usable_size, &b)) {
        size = b.size < b.room ? b.size : size;
        is_used = b.size != WAITING;
    }
    w->visitor(w->context, block, size, is_used);
}

static void guarded_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                         void *context) {
    guarded_tour w = {heap, plan, visitor, context, 0, true};
    heap_walk(inner_of(heap), plan, tell_guarded, &w);
}

static bool is_block_sound_in(guarded_tour *w, const void *block, size_t usable_size) {
    guarded_block b;
    if (!find_guard(w->heap, w->plan, block, usable_size, &b)) {
        return false;
    }
    const enum block_state state = guard_state(&b);
    if (state != BLOCK_WAITING) {
        return state == BLOCK_LIVE;
    }
    w->waiting++;
    return slots_with(w->heap, (uint32_t)((uintptr_t)block - (uintptr_t)b.inner)) == 1;
}

static void check_guarded(void *context, const void *block, size_t usable_size, bool is_used) {
    guarded_tour *w = context;
    if (is_used && w->is_sound) {
        w->is_sound = is_block_sound_in(w, block, usable_size);
    }
}

/* True if the inner heap is sound, and so are all canaries, and just what is in a slot waits. */
static bool guarded_check(const hfit_heap *heap, const hfit_plan *plan) {
    if (!are_guard_words_sound(heap) || !heap_check(inner_of(heap), plan)) {
        return false;
    }
    guarded_tour w = {heap, plan, NULL, NULL, 0, true};
    heap_walk(inner_of(heap), plan, check_guarded, &w);
    return w.is_sound && w.waiting + slots_with(heap, NO_OFFSET) == HFIT_QUARANTINE;
}

static size_t guarded_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    return GUARD_SIZE + heap_footprint(inner_of(heap), plan);
}

/* The piece of a live block after `piece`, NULL: the first one, up to the caller's last byte. One
 * step a piece before it. */
static inline void *guarded_next_piece(const hfit_heap *heap, const hfit_plan *plan,
                                       const void *block, const void *piece, size_t *size) {
    guarded_block b;
    const void *before = NULL;
    if (!find_guarded(heap, plan, block, &b)) {
        return NULL;
    }
    for (size_t left = b.size; left > 0; left -= *size) {
        unsigned char *next = heap_next_piece(inner_of(heap), plan, block, before, size);
        if (next == NULL) {
            return NULL;
        }
        *size = *size < left ? *size : left;
        if (before == piece) {
            return next;
        }
        before = next;
    }
    return NULL;
}

#endif
