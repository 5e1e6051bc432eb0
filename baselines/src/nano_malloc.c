/* SPDX-License-Identifier: Apache-2.0 */
/* See baselines/nano_malloc.h; the region is drawn in src/grown_chunks.h. */
#include "baselines/nano_malloc.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_nano_malloc_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#include "src/grown_chunks.h"

static inline uint32_t padding(const hfit_plan *plan) {
    return plan->alignment - UNIT;
}

static inline uint32_t least_chunk(const hfit_plan *plan) {
    return HEAD + padding(plan) + UNIT;
}

static inline uint32_t first_chunk(const hfit_plan *plan) {
    return (CONTROL_SIZE + plan->alignment - 1) & ~(plan->alignment - 1);
}

/* A chunk of at least `size` bytes, out of the list; NO_OFFSET if there is none. */
static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t size) {
    uint32_t link = LIST;
    for (uint32_t chunk = load_word(heap, link); chunk != NO_OFFSET;
         chunk = load_word(heap, link)) {
        const uint32_t length = size_at(heap, chunk);
        if (length >= size + least_chunk(plan)) {
            store_word(heap, chunk + SIZE, length - size);
            store_word(heap, chunk + length - size + SIZE, size);
            return chunk + length - size;
        }
        if (length >= size) {
            store_word(heap, link, load_word(heap, chunk + NEXT));
            return chunk;
        }
        link = chunk + NEXT;
    }
    return grow(heap, size);
}

static bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed) {
    return round_size(size, HEAD + padding(plan), UNIT, needed);
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t usable;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    (void)chunk_of(heap, block, &usable);
    return size <= usable ? block : move_block(heap, plan, block, usable, size);
}

/* A block in one with room for the largest gap. A gap that can be a chunk is freed, and what is
 * behind it if that is more than the smallest chunk. The rest has no padding of its own. */
static void *take_aligned(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment, size_t size) {
    uint32_t payload;
    uint32_t room;
    if (!round_size(size, 0, UNIT, &payload) ||
        !chunk_size_for(plan, (size_t)payload + alignment - plan->alignment, &room)) {
        return NULL;
    }
    uint32_t chunk = take_chunk(heap, plan, room);
    if (chunk == NO_OFFSET) {
        return NULL;
    }
    uint32_t gap = alignment_gap(heap, chunk + HEAD, alignment);
    if (gap >= least_chunk(plan)) {
        cut_start(heap, plan, chunk, chunk + gap);
        chunk += gap;
        gap = 0;
    }
    const uint32_t end = chunk + HEAD + gap + payload;
    if (behind(heap, chunk) > end + least_chunk(plan)) {
        cut_end(heap, plan, chunk, end - chunk);
    }
    if (gap >= plan->alignment) {
        store_word(heap, chunk + SIZE, size_at(heap, chunk) | LATE);
    }
    if (gap != 0) {
        store_word(heap, chunk + gap, 0u - gap);
    }
    return block_at(heap, chunk + HEAD + gap);
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_nano_malloc_allocator = {
    .name = "nano_malloc",
    .title = "first fit by address, cut from the end",
    .origin = "newlib 3.3.0, its small malloc (nano.specs)",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_plan),
    .ignores_region_end = true,
    .account =
        {
            .worst_case = "alloc and free: one step a free chunk passed over, so linear in the "
                          "free chunks",
            .block_bytes = "4 for the size and the alignment less 4, then rounded up to 4; at "
                           "least 4 more than the alignment",
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
    .operations = &hfit_nano_malloc_operations,
    .unlocked = &hfit_nano_malloc_unlocked,
};
