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

#include "src/operations/work.h"
#include "src/operations/canary.h"
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

_Static_assert(3 * 0xaaaaaaabu == 1, "the factor that stored_turn divides by 3 with");

/* Whose turn it is, HFIT_QUARANTINE or more if that is damaged: no flipped bit leaves a multiple of
 * 3. */
static inline uint32_t stored_turn(const hfit_heap *heap) {
    return load_word(heap, GUARD_TURN) * 0xaaaaaaabu; /* 1 / 3 modulo 2^32 */
}

static inline uint32_t load_turn(const hfit_heap *heap) {
    const uint32_t turn = stored_turn(heap);
    return turn < HFIT_QUARANTINE ? turn : 0;
}

static inline uint32_t slot_behind(uint32_t number) {
    return number + 1 < HFIT_QUARANTINE ? number + 1 : 0;
}

/* Any slot, where there is a source of randomness; else the one whose turn it is. */
static inline uint32_t slot_for(hfit_heap *heap, uint32_t turn) {
    const uint32_t random = HFIT_RANDOM(heap);
    return HFIT_HAS_RANDOM ? (random & 0xffff) * HFIT_QUARANTINE >> 16 : turn;
}

/* Stores what is known of a block of the inner heap. False if it has no room for a guard. */
static inline bool find_guard(const hfit_heap *heap, const hfit_plan *plan, const void *block,
                              size_t usable, guarded_block *b) {
    if (usable <= GUARD_A_BLOCK) {
        return false;
    }
    b->inner = inner_of(heap);
    b->plan = plan;
    b->block = block;
    read_guard(b, load_word(heap, GUARD_SECRET), usable);
    return true;
}

/* Gives a block that waited at `offset` to the inner heap. */
static inline void release_waiting(hfit_heap *heap, const hfit_plan *plan, uint32_t offset) {
    hfit_heap *inner = inner_of(heap);
    void *block = block_at(inner, offset);
    const size_t usable = heap_usable_size(inner, plan, block);
    if (usable == 0) {
        return; /* which the inner heap has told */
    }
    guarded_block b;
    if (find_guard(heap, plan, block, usable, &b) && guard_state(&b) == BLOCK_WAITING) {
        store_word(inner, b.tail, 0);
        heap_free(inner, plan, block);
        return;
    }
    HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block);
}

/* Lets a block wait; the one whose slot it takes leaves. */
static inline void let_wait(hfit_heap *heap, const hfit_plan *plan, guarded_block *b) {
    const uint32_t turn = load_turn(heap);
    const uint32_t number = slot_for(heap, turn);
    const uint32_t leaving = load_word(heap, slot_at(number));
    seal_waiting(inner_of(heap), b);
    store_word(heap, slot_at(number), (uint32_t)((uintptr_t)b->block - (uintptr_t)inner_of(heap)));
    store_word(heap, GUARD_TURN, 3 * slot_behind(turn));
    if (leaving != NO_OFFSET) {
        release_waiting(heap, plan, leaving);
    }
}

/* Lets the block leave that has waited longest, where nothing is random. False if none waits. */
static inline bool release_one(hfit_heap *heap, const hfit_plan *plan) {
    uint32_t number = load_turn(heap);
    for (uint32_t i = 0; i < HFIT_QUARANTINE; i++) {
        const uint32_t offset = load_word(heap, slot_at(number));
        if (offset != NO_OFFSET) {
            store_word(heap, slot_at(number), NO_OFFSET);
            release_waiting(heap, plan, offset);
            return true;
        }
        number = slot_behind(number);
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
    return load_word(heap, GUARD_COMPLEMENT) == ~load_word(heap, GUARD_SECRET) &&
           stored_turn(heap) < HFIT_QUARANTINE;
}

#endif
