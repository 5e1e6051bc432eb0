/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What safety level 3 keeps of a block, behind the caller's bytes and inside the chunk that serves
 * it:
 *
 *   block           size            size + 16       room
 *   +---------------+---------------+---------------+------------+
 *   | caller's      | canary        | not looked at | size, coded|   a live block
 *   +---------------+---------------+---------------+------------+
 *   | HFIT_FREED_BYTE                               | waiting    |   one that was freed and waits
 *   +-----------------------------------------------+------------+
 *
 * `room` is the last word that the chunk has whole. A request grows by GUARD_A_BLOCK bytes, so that
 * the size's word and at least one byte of canary have room at every size. No byte of a canary is 0
 * or ASCII. Canary and size depend on where the block lies and on the heap's secret.
 *
 * heap_* is the work of the allocator that is guarded (src/operations/work.h).
 */
#ifndef HFIT_CANARY_H
#define HFIT_CANARY_H

#include "hfit/compiler.h"
#include "hfit/config.h"
#include "hfit/contract.h"

#include "src/operations/work.h"
#include "src/region.h"
#include "src/size.h"

enum {
    GUARD_A_BLOCK = HFIT_GUARD_A_BLOCK, /* bytes that a request grows by */
    CANARY_SIZE = 16,                   /* at most; where a block has more room it is passed by */
    TAIL_SIZE = 4,
};

/* The coded size of a block that was freed. */
#define WAITING UINT32_MAX

enum block_state { BLOCK_LIVE, BLOCK_WAITING, BLOCK_DAMAGED };

/* A block as the chunk around it and its last word tell. */
typedef struct guarded_block {
    const hfit_heap *inner; /* the heap that serves it */
    const hfit_plan *plan;
    const void *block;
    uint32_t key;  /* of the canary and of the size */
    uint32_t room; /* bytes before the last word */
    uint32_t tail; /* offset of that word from the inner heap's start */
    uint32_t size; /* asked for; WAITING; or anything, if it is damaged */
} guarded_block;

/* A run of a block's bytes that is worked on: at this place of the block. */
typedef bool (*byte_work)(unsigned char *bytes, uint32_t position, uint32_t count, uint32_t key);

/* Does `work` on the bytes of a block from `from` to before `to`, piece by piece. False once it
 * says so. */
static inline bool for_bytes(const guarded_block *b, uint32_t from, uint32_t to, byte_work work) {
    unsigned char *piece = NULL;
    size_t size = 0;
    for (uint32_t start = 0; start < to; start += (uint32_t)size) {
        piece = heap_next_piece(b->inner, b->plan, b->block, piece, &size);
        if (piece == NULL) {
            return false;
        }
        size = size < to - start ? size : to - start;
        const uint32_t skipped = from <= start ? 0 : from - start;
        if (skipped < size &&
            !work(piece + skipped, start + skipped, (uint32_t)size - skipped, b->key)) {
            return false;
        }
    }
    return true;
}

static inline unsigned char canary_byte(uint32_t key, uint32_t position) {
    return (unsigned char)(key >> 8 * (position & 3) | 0x80);
}

static inline bool write_canary(unsigned char *bytes, uint32_t position, uint32_t count,
                                uint32_t key) {
    for (uint32_t i = 0; i < count; i++) {
        bytes[i] = canary_byte(key, position + i);
    }
    return true;
}

static inline bool is_canary(unsigned char *bytes, uint32_t position, uint32_t count,
                             uint32_t key) {
    for (uint32_t i = 0; i < count; i++) {
        if (bytes[i] != canary_byte(key, position + i)) {
            return false;
        }
    }
    return true;
}

/* What a freed block holds. */
static inline bool fill_bytes(unsigned char *bytes, uint32_t position, uint32_t count,
                              uint32_t key) {
    (void)position, (void)key;
    HFIT_ON_PAYLOAD(count);
    for (uint32_t i = 0; i < count; i++) {
        HFIT_LOOP_OF_PAYLOAD();
        bytes[i] = HFIT_FREED_BYTE_AT(&bytes[i]);
    }
    return true;
}

/* True if all bytes are so. Those of a piece up to a block's room are whole words. */
static inline bool are_filled(unsigned char *bytes, uint32_t position, uint32_t count,
                              uint32_t key) {
    typedef uint32_t HFIT_MAY_ALIAS word;
    const word *words = (const word *)(const void *)bytes;
    (void)position, (void)key;
    for (uint32_t i = 0; i < count / 4; i++) {
        if (words[i] != HFIT_FREED_WORD(&words[i])) {
            return false;
        }
    }
    return true;
}

/* Where the canary of a block of `size` bytes ends. */
static inline uint32_t canary_end(const guarded_block *b, uint32_t size) {
    return b->room - size < CANARY_SIZE ? b->room : size + CANARY_SIZE;
}

/* The offset of the word at this place of a block, which does not lie across pieces; NO_OFFSET if
 * the pieces end before it. */
static inline uint32_t word_of_block(const guarded_block *b, uint32_t position) {
    const unsigned char *piece = NULL;
    size_t size = 0;
    do {
        position -= (uint32_t)size;
        piece = heap_next_piece(b->inner, b->plan, b->block, piece, &size);
    } while (piece != NULL && size <= position);
    return piece == NULL ? NO_OFFSET
                         : (uint32_t)((uintptr_t)piece - (uintptr_t)b->inner) + position;
}

/* Spreads the bits of an offset (Knuth's multiplier, then the shifts of MurmurHash3). */
static inline uint32_t key_of(uint32_t secret, uint32_t offset) {
    uint32_t key = (offset * 0x9e3779b1u) ^ secret;
    key = (key ^ key >> 16) * 0x85ebca6bu;
    return key ^ key >> 13;
}

/* Stores what is known of the block that `b` names, with `usable` bytes, which are more than
 * GUARD_A_BLOCK. (Field by field: a copy of the whole would call memcpy.) */
static inline void read_guard(guarded_block *b, uint32_t secret, size_t usable) {
    b->key = key_of(secret, (uint32_t)((uintptr_t)b->block - (uintptr_t)b->inner));
    b->room = ((uint32_t)usable & ~3u) - TAIL_SIZE;
    b->tail = word_of_block(b, b->room);
    b->size = b->tail == NO_OFFSET ? WAITING - 1 : load_word(b->inner, b->tail) ^ b->key;
}

/* What the block's own bytes say of it. */
static inline enum block_state guard_state(const guarded_block *b) {
    if (b->size == WAITING) {
        return for_bytes(b, 0, b->room, are_filled) ? BLOCK_WAITING : BLOCK_DAMAGED;
    }
    return b->size < b->room && for_bytes(b, b->size, canary_end(b, b->size), is_canary)
               ? BLOCK_LIVE
               : BLOCK_DAMAGED;
}

/* Makes it a live block of `size` bytes, fewer than its room. */
static inline void seal_live(hfit_heap *inner, guarded_block *b, uint32_t size) {
    b->size = size;
    (void)for_bytes(b, size, canary_end(b, size), write_canary);
    store_word(inner, b->tail, size ^ b->key);
}

/* Makes it one that was freed: nothing is left in it of what it held. */
static inline void seal_waiting(hfit_heap *inner, guarded_block *b) {
    b->size = WAITING;
    (void)for_bytes(b, 0, b->room, fill_bytes);
    store_word(inner, b->tail, WAITING ^ b->key);
}

#endif
