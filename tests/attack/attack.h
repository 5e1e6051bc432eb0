/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap under random sound use, and bad frees tried on a copy of it. What an attack knows is what
 * was handed out: which addresses are live, and which ever were.
 */
#ifndef ATTACK_H
#define ATTACK_H

#include "contract_config.h"
#include "plans.h"

#include "core/random_number.h"

#include <stdbool.h>

enum { ATTACK_WORDS = LARGEST_REGION / 4, ATTACK_LIVE = 512 };

/* What the program writes into its blocks. */
typedef enum payload {
    ZEROS,
    HEX_A5,
    HEX_FF,
    LEFT_AS_HANDED_OUT,
    MIXED, /* of the four, each block its own */
    PAYLOADS,
} payload;

extern const char *const payload_names[PAYLOADS];

typedef struct live_block {
    uint32_t offset;
    uint32_t size;
} live_block;

typedef struct attacked_heap {
    const test_plan *plan;
    uint32_t size; /* of the region */
    payload written;
    live_block live[ATTACK_LIVE];
    uint32_t live_count;
    uint32_t seen[ATTACK_WORDS]; /* offsets that were ever handed out */
    uint32_t seen_count;
    bool is_live[ATTACK_WORDS]; /* a block begins at this word */
    bool was_live[ATTACK_WORDS];
} attacked_heap;

/* A fresh heap in a region `room` bytes above the plan's smallest, which is filled as blocks are.
 */
void attack_start(attacked_heap *heap, const test_plan *plan, uint32_t room, payload written);

/* One request, free or resize, at random. */
void attack_step(attacked_heap *heap);

/* The same, told: a request of `size` bytes (false if refused), and a free of one live block. */
bool attack_alloc(attacked_heap *heap, size_t alignment, uint32_t size);
void attack_give(attacked_heap *heap, uint32_t number);

static inline bool attack_is_live(const attacked_heap *heap, uint32_t offset) {
    return heap->is_live[offset / 4] && offset % 4 == 0;
}

/* The heap's region, of `size` bytes, which a caller may copy. */
const unsigned char *attack_region(void);

/* Copies the heap; the bad frees that follow are made on the copy. */
void attack_begin(const attacked_heap *heap);

/* Frees an address that is not live. False if that was not told, or changed something; the copy is
 * then made anew. */
bool attack_free_is_refused(const attacked_heap *heap, uint32_t offset);

#endif
