/* SPDX-License-Identifier: Apache-2.0 */
/* See baselines/picolibc_malloc.h; the region is drawn in src/grown_chunks.h. */
#include "baselines/picolibc_malloc.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_picolibc_malloc_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#include "src/cut_chunk.h"
#include "src/grown_chunks.h"

static inline uint32_t least_chunk(const hfit_plan *plan) {
    (void)plan;
    return HEAD + UNIT;
}

/* The word before a multiple of the alignment: no block needs a gap. */
static inline uint32_t first_chunk(const hfit_plan *plan) {
    return ((CONTROL_SIZE + HEAD + plan->alignment - 1) & ~(plan->alignment - 1)) - HEAD;
}

static bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed) {
    return round_size(size, plan->alignment, plan->alignment, needed);
}

/* Grows a chunk that ends the heap to `size` bytes. False if it does not, or there is no room. */
static bool grow_last(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    const uint32_t top = behind(heap, chunk);
    const uint32_t more = size - size_at(heap, chunk);
    if (top != load_word(heap, TOP) || more > load_word(heap, END) - top) {
        return false;
    }
    store_word(heap, TOP, top + more);
    store_word(heap, chunk + SIZE, size);
    return true;
}

/* The first `size` bytes of a free chunk that has so many, out of the list. */
static uint32_t take_front(hfit_heap *heap, const hfit_plan *plan, uint32_t link, uint32_t size) {
    const uint32_t chunk = load_word(heap, link);
    const uint32_t rest = size_at(heap, chunk) - size;
    const uint32_t next = load_word(heap, chunk + NEXT);
    if (rest < least_chunk(plan)) {
        store_word(heap, link, next);
        return chunk;
    }
    store_word(heap, chunk + SIZE, size);
    store_word(heap, chunk + size + SIZE, rest);
    store_word(heap, chunk + size + NEXT, next);
    store_word(heap, link, chunk + size);
    return chunk;
}

static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t size) {
    uint32_t link = LIST;
    for (uint32_t chunk = load_word(heap, link); chunk != NO_OFFSET;
         chunk = load_word(heap, link)) {
        const bool is_last = load_word(heap, chunk + NEXT) == NO_OFFSET;
        if (size_at(heap, chunk) >= size || (is_last && grow_last(heap, chunk, size))) {
            return take_front(heap, plan, link, size);
        }
        link = chunk + NEXT;
    }
    return grow(heap, size);
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t needed;
    uint32_t usable;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t chunk = chunk_of(heap, block, &usable);
    if (needed > size_at(heap, chunk) && !grow_last(heap, chunk, needed)) {
        return move_block(heap, plan, block, usable, size);
    }
    cut_end(heap, plan, chunk, needed);
    return block;
}

static uint32_t header_size(void) {
    return HEAD;
}

/* Room for a gap of any size and for a chunk before it, asked for as a block. */
static bool room_to_align(const hfit_plan *plan, uint32_t needed, uint32_t alignment,
                          uint32_t *room) {
    return round_sum(needed, alignment + least_chunk(plan), plan->alignment, room);
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_picolibc_malloc_allocator = {
    .name = "picolibc_malloc",
    .title = "first fit by address, the last chunk grows",
    .origin = "picolibc 1.8.11, its malloc",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc and free: one step a free chunk passed over, so linear in the "
                          "free chunks",
            .block_bytes = "rounded up to the alignment, and the alignment",
            .fragmentation = "M n for M live bytes and a largest request of n units: when the heap "
                             "grows every hole is below n and has a live neighbour",
            .layout = "| list | top | end | chunk | chunk | ... | not yet used |\n"
                      "a used chunk: | size | payload ... |\n"
                      "a free chunk: | size | next free | ... |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "one",
            .pool_fit.text = "-",
            .block_fit.text = "first",
            .order.text = "by address",
            .growth.text = "by what a request lacks",
        },
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .operations = &hfit_picolibc_malloc_operations,
    .unlocked = &hfit_picolibc_malloc_unlocked,
};
