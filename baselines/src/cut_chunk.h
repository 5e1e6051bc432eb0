/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An aligned block of a heap that cuts chunks: one with room for every gap is taken, and what lies
 * before and behind the block is freed.
 *
 *   | before: nothing or a chunk | header | the caller's bytes ... | behind: a chunk, or kept |
 *                                         ^ aligned
 *
 * A source that includes this file defines the static functions declared below.
 */
#ifndef BASELINES_CUT_CHUNK_H
#define BASELINES_CUT_CHUNK_H

#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/aligned.h"

/* Stores the bytes of a chunk for a request. False if there are no such. */
static bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed);

/* Stores the bytes of a chunk in which one of `needed` bytes can be aligned. False likewise. */
static bool room_to_align(const hfit_plan *plan, uint32_t needed, uint32_t alignment,
                          uint32_t *room);

/* Bytes of the smallest chunk, and before each block. */
static uint32_t least_chunk(const hfit_plan *plan);
static uint32_t header_size(void);

/* A used chunk of at least so many bytes; NO_OFFSET if there is none. */
static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t needed);

/* Frees what a used chunk has before `start`, which is a chunk, or beyond `needed` bytes, if that
 * can be one. */
static void cut_start(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t start);
static void cut_end(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t needed);

static void *take_aligned(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment, size_t size) {
    uint32_t needed;
    uint32_t room;
    if (!chunk_size_for(plan, size, &needed) || !room_to_align(plan, needed, alignment, &room)) {
        return NULL;
    }
    const uint32_t chunk = take_chunk(heap, plan, room);
    if (chunk == NO_OFFSET) {
        return NULL;
    }
    uint32_t start = chunk + alignment_gap(heap, chunk + header_size(), alignment);
    while (start != chunk && start - chunk < least_chunk(plan)) {
        start += alignment;
    }
    if (start != chunk) {
        cut_start(heap, plan, chunk, start);
    }
    cut_end(heap, plan, start, needed);
    return block_at(heap, start + header_size());
}

#endif
