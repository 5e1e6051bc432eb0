/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The obvious model of a heap: a list of live blocks with the bytes the caller wrote into them.
 *
 * Every step on the heap under test is done on the model too, and then the whole heap is walked and
 * compared.
 */
#ifndef CONTRACT_MODEL_H
#define CONTRACT_MODEL_H

#include "plans.h"

#include <stdint.h>

typedef struct live_block {
    unsigned char *address;
    size_t size;      /* asked for */
    size_t alignment; /* of its address, or of each piece, at least */
    uint32_t pattern; /* what its bytes were written from */
} live_block;

typedef struct model {
    const test_plan *plan;
    const hfit_operations *operations;
    hfit_heap *heap;
    unsigned char *region;
    size_t region_size;
    live_block live[MOST_LIVE];
    size_t live_count;
    size_t highest_end; /* highest end of a block so far, from the region's start */
    uint32_t next_pattern;
    bool allocs_by_resize; /* plain requests are made as resizes of NULL, without a tag */
} model;

/* A heap in a fresh region of `region_size` bytes whose start is aligned to REGION_ALIGNMENT.
 */
void model_start(model *m, const test_plan *plan, size_t region_size);
void model_end(model *m);

/* The same in a region that stays the caller's; not to be ended. False if the allocator refuses to
 * make a heap there. */
bool model_start_in(model *m, const test_plan *plan, unsigned char *region, size_t region_size);

/* Walks the heap and compares it with the model: every live block is there, at least as large as
 * asked for, within the region, apart from the others; nothing else is used; `check` holds; the
 * footprint covers all. */
void model_compare(model *m);

/* Each does the step on both sides and ends the program if the heap breaks the contract. False: the
 * heap refused, and not one byte of the region changed. */
bool model_alloc(model *m, size_t alignment, size_t size);
bool model_resize(model *m, size_t index, size_t size);
void model_free(model *m, size_t index, bool sized);

/* Frees by free_sized, told any size. */
void model_free_sized(model *m, size_t index, size_t size);

/* Calls the heap on an address that is no live block's, in one of the four ways. Each must change
 * not one byte and return 0 or NULL; all must tell it as misuse but usable_size, and resize to what
 * no such region holds. */
typedef enum model_misuse {
    MISUSED_FREE,
    MISUSED_FREE_SIZED,
    MISUSED_RESIZE,
    MISUSED_USABLE_SIZE,
    MODEL_MISUSES,
} model_misuse;

bool model_is_live(const model *m, const void *address);
void model_misuses(const model *m, model_misuse how, void *address, size_t size);

/* Asks for a block at an alignment that is no power of two: NULL, and nothing changed. */
void model_misaligns(const model *m, size_t alignment, size_t size);

#endif
