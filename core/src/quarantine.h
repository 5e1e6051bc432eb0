/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of safety level 3 at a region's start, before the heap that they guard, and the freed
 * blocks that wait there.
 *
 *   0        4         8         12                              GUARD_SIZE
 *   +--------+---------+---------+---------+-- ... --+-----------+-------------------------+
 *   | secret | ~secret | 3 * turn| slot 0  |         | padding   | inner heap              |
 *   +--------+---------+---------+---------+-- ... --+-----------+-------------------------+
 *
 * A slot holds the offset of a waiting block from the inner heap's start, or 0. A freed block takes
 * the slot whose turn it is, or, where there is a source of randomness, any; the block that waited
 * there leaves: it goes to the inner heap if its bytes still are what they were made. If they are
 * not, that is told, and it never leaves: `check` tells from then on that it is in no slot.
 */
#ifndef HFIT_QUARANTINE_H
#define HFIT_QUARANTINE_H

#include "hfit/config.h"
#include "hfit/contract.h"

#include "src/operations.h"
#include "src/canary.h"
#include "src/region.h"

enum {
    GUARD_SECRET = 0,
    GUARD_COMPLEMENT = 4,
    GUARD_TURN = 8,
    GUARD_SLOTS = 12,
    GUARD_SIZE = HFIT_GUARD_SIZE,
};

_Static_assert(HFIT_QUARANTINE >= 1 && HFIT_QUARANTINE <= 4096, "1 to 4096 freed blocks wait");
_Static_assert(GUARD_SLOTS + 4 * HFIT_QUARANTINE <= GUARD_SIZE, "the slots lie before the heap");

static inline hfit_heap *inner_of(const hfit_heap *heap) {
    return (hfit_heap *)(void *)((unsigned char *)(uintptr_t)heap + GUARD_SIZE);
}

static inline uint32_t slot_at(uint32_t number) {
    return GUARD_SLOTS + 4 * number;
}

/* A secret that is none, where nothing is random, still makes canaries differ. */
static inline void init_guard(hfit_heap *heap) {
    const uint32_t secret = HFIT_RANDOM(heap);
    store_word(heap, GUARD_SECRET, secret);
    store_word(heap, GUARD_COMPLEMENT, ~secret);
    for (uint32_t offset = GUARD_TURN; offset < GUARD_SIZE; offset += 4) {
        store_word(heap, offset, 0);
    }
}

/* Whose turn it is; no flipped bit leaves a multiple of 3. */
static inline uint32_t load_turn(const hfit_heap *heap) {
    return load_word(heap, GUARD_TURN) / 3 % HFIT_QUARANTINE;
}

/* What is known of a block of the inner heap, of more than GUARD_A_BLOCK bytes. */
static inline guarded_block block_of(const hfit_heap *heap, const hfit_plan *plan,
                                     const void *block, size_t usable) {
    return read_block(inner_of(heap), plan, load_word(heap, GUARD_SECRET), block, usable);
}

/* Gives a block that waited at `offset` to the inner heap. */
static inline void release_waiting(hfit_heap *heap, const hfit_plan *plan, uint32_t offset) {
    hfit_heap *inner = inner_of(heap);
    void *block = block_at(inner, offset);
    const size_t usable = heap_usable_size(inner, plan, block);
    if (usable == 0) {
        return; /* which the inner heap has told */
    }
    if (usable > GUARD_A_BLOCK) {
        const guarded_block b = block_of(heap, plan, block, usable);
        if (guard_state(&b) == BLOCK_WAITING) {
            store_word(inner, b.tail, 0);
            heap_free(inner, plan, block);
            return;
        }
    }
    HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block);
}

/* Lets a block wait; the one whose slot it takes leaves. */
static inline void let_wait(hfit_heap *heap, const hfit_plan *plan, guarded_block *b) {
    const uint32_t turn = load_turn(heap);
    const uint32_t number = HFIT_HAS_RANDOM ? HFIT_RANDOM(heap) % HFIT_QUARANTINE : turn;
    const uint32_t leaving = load_word(heap, slot_at(number));
    seal_waiting(inner_of(heap), b);
    store_word(heap, slot_at(number), (uint32_t)((uintptr_t)b->block - (uintptr_t)inner_of(heap)));
    store_word(heap, GUARD_TURN, 3 * ((turn + 1) % HFIT_QUARANTINE));
    if (leaving != NO_OFFSET) {
        release_waiting(heap, plan, leaving);
    }
}

/* Lets the block leave that has waited longest, where nothing is random. False if none waits. */
static inline bool release_one(hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t turn = load_turn(heap);
    for (uint32_t i = 0; i < HFIT_QUARANTINE; i++) {
        const uint32_t slot = slot_at((turn + i) % HFIT_QUARANTINE);
        const uint32_t offset = load_word(heap, slot);
        if (offset != NO_OFFSET) {
            store_word(heap, slot, NO_OFFSET);
            release_waiting(heap, plan, offset);
            return true;
        }
    }
    return false;
}

/* How many slots hold this offset. */
static inline uint32_t slots_with(const hfit_heap *heap, uint32_t offset) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < HFIT_QUARANTINE; i++) {
        count += load_word(heap, slot_at(i)) == offset;
    }
    return count;
}

static inline bool are_guard_words_sound(const hfit_heap *heap) {
    const uint32_t turn = load_word(heap, GUARD_TURN);
    return load_word(heap, GUARD_COMPLEMENT) == ~load_word(heap, GUARD_SECRET) && turn % 3 == 0 &&
           turn / 3 < HFIT_QUARANTINE;
}

#endif
