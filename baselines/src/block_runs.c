/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See baselines/block_runs.h.
 *
 *   0      4           12        1        2                          last
 *   +------+-----------+---------+--------+--------+-- ... -+--------+------+
 *   | last | footprint | block 0 | block  | block  |        | block  |      |
 *   +------+-----------+---------+--------+--------+-- ... -+--------+------+
 *
 *   used run | next, F | previous | the caller's bytes ...
 *   free run | next, F | previous | next free | previous free | ...
 *
 * All four are numbers of blocks, of 2 bytes each. F, the highest bit of the first, is set in a
 * free run. Block 0 is the head of the ring of free runs; its `next` is always 1.
 */
#include "baselines/block_runs.h"

#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_block_runs_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#include "src/cut_chunk.h"

enum {
    LAST = 0, /* the block that ends the heap */
    FOOTPRINT = 4,
    BLOCKS = 12, /* where block 0 begins: payloads lie at multiples of 16, or 8 */
    HEAD = 4,
    FREE_BIT = 0x8000,
    MOST_BLOCKS = 0x8000,
};

typedef enum { NEXT, PREVIOUS, NEXT_FREE, PREVIOUS_FREE } block_field;

static inline const hfit_block_runs_plan *own(const hfit_plan *plan) {
    return (const hfit_block_runs_plan *)plan;
}

static inline uint32_t unit_of(const hfit_plan *plan) {
    return own(plan)->block_size > plan->alignment ? own(plan)->block_size : plan->alignment;
}

static inline uint32_t offset_in(const hfit_plan *plan, uint32_t block) {
    return BLOCKS + block * unit_of(plan);
}

static inline uint32_t block_number(const hfit_plan *plan, uint32_t offset) {
    return (offset - BLOCKS) / unit_of(plan);
}

static uint32_t get(const hfit_heap *heap, const hfit_plan *plan, uint32_t block,
                    block_field field) {
    const uint32_t place = (uint32_t)field;
    return load_word(heap, offset_in(plan, block) + place / 2 * 4) >> place % 2 * 16 & 0xffffu;
}

static void put(hfit_heap *heap, const hfit_plan *plan, uint32_t block, block_field field,
                uint32_t value) {
    const uint32_t place = (uint32_t)field;
    const uint32_t offset = offset_in(plan, block) + place / 2 * 4;
    const uint32_t other = load_word(heap, offset) & 0xffff0000u >> place % 2 * 16;
    store_word(heap, offset, other | value << place % 2 * 16);
}

static inline uint32_t next_of(const hfit_heap *heap, const hfit_plan *plan, uint32_t block) {
    return get(heap, plan, block, NEXT) & ~(uint32_t)FREE_BIT;
}

static inline bool is_free(const hfit_heap *heap, const hfit_plan *plan, uint32_t block) {
    return (get(heap, plan, block, NEXT) & FREE_BIT) != 0;
}

/* Blocks of a run. */
static inline uint32_t length_of(const hfit_heap *heap, const hfit_plan *plan, uint32_t block) {
    return next_of(heap, plan, block) - block;
}

static void link_free(hfit_heap *heap, const hfit_plan *plan, uint32_t before, uint32_t after) {
    put(heap, plan, before, NEXT_FREE, after);
    put(heap, plan, after, PREVIOUS_FREE, before);
}

/* Makes a free run used; its neighbours on the list are linked. */
static void take_out(hfit_heap *heap, const hfit_plan *plan, uint32_t block) {
    link_free(heap, plan, get(heap, plan, block, PREVIOUS_FREE), get(heap, plan, block, NEXT_FREE));
    put(heap, plan, block, NEXT, next_of(heap, plan, block));
}

/* Makes `block` a run that ends where `next` begins; it is free or not as `mark` has FREE_BIT. */
static void set_run(hfit_heap *heap, const hfit_plan *plan, uint32_t block, uint32_t next,
                    uint32_t mark) {
    put(heap, plan, block, NEXT, next | mark);
    put(heap, plan, next, PREVIOUS, block);
}

static void split_run(hfit_heap *heap, const hfit_plan *plan, uint32_t block, uint32_t blocks,
                      uint32_t mark) {
    set_run(heap, plan, block + blocks, next_of(heap, plan, block), mark);
    set_run(heap, plan, block, block + blocks, 0);
}

/* Takes the run behind a used one in, if it is free. */
static void join_next(hfit_heap *heap, const hfit_plan *plan, uint32_t block) {
    const uint32_t next = next_of(heap, plan, block);
    if (is_free(heap, plan, next)) {
        take_out(heap, plan, next);
        set_run(heap, plan, block, next_of(heap, plan, next), 0);
    }
}

static void free_run(hfit_heap *heap, const hfit_plan *plan, uint32_t block) {
    join_next(heap, plan, block);
    const uint32_t previous = get(heap, plan, block, PREVIOUS);
    if (is_free(heap, plan, previous)) {
        set_run(heap, plan, previous, next_of(heap, plan, block), FREE_BIT);
        return;
    }
    link_free(heap, plan, block, get(heap, plan, 0, NEXT_FREE));
    link_free(heap, plan, 0, block);
    put(heap, plan, block, NEXT, next_of(heap, plan, block) | FREE_BIT);
}

/* The free run that is to serve so many blocks; 0 if there is none. */
static uint32_t find_run(const hfit_heap *heap, const hfit_plan *plan, uint32_t blocks) {
    uint32_t best = 0;
    uint32_t best_length = UINT32_MAX;
    for (uint32_t block = get(heap, plan, 0, NEXT_FREE); block != 0;
         block = get(heap, plan, block, NEXT_FREE)) {
        const uint32_t length = length_of(heap, plan, block);
        if (length >= blocks && length < best_length) {
            best = block;
            best_length = length;
            if (own(plan)->first != 0) {
                break;
            }
        }
    }
    return best;
}

static void raise_footprint(hfit_heap *heap, const hfit_plan *plan, uint32_t block) {
    const uint32_t end = offset_in(plan, next_of(heap, plan, block)) + HEAD;
    if (end > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, end);
    }
}

/* A used run of so many blocks; 0 if there is none. What is left of the run it is cut from takes
 * that one's place on the list. */
static uint32_t take_run(hfit_heap *heap, const hfit_plan *plan, uint32_t blocks) {
    const uint32_t block = find_run(heap, plan, blocks);
    if (block == 0) {
        return 0;
    }
    if (length_of(heap, plan, block) == blocks) {
        take_out(heap, plan, block);
    } else {
        const uint32_t before = get(heap, plan, block, PREVIOUS_FREE);
        const uint32_t after = get(heap, plan, block, NEXT_FREE);
        split_run(heap, plan, block, blocks, FREE_BIT);
        link_free(heap, plan, before, block + blocks);
        link_free(heap, plan, block + blocks, after);
    }
    raise_footprint(heap, plan, block);
    return block;
}

/* Blocks for a request; 0 if no heap has so many. */
static uint32_t blocks_for(const hfit_plan *plan, size_t size) {
    uint32_t bytes;
    const bool is_sound = round_size(size, HEAD, unit_of(plan), &bytes);
    return is_sound && bytes / unit_of(plan) < MOST_BLOCKS ? bytes / unit_of(plan) : 0;
}

static void *payload_of(const hfit_heap *heap, const hfit_plan *plan, uint32_t block) {
    return block_at(heap, offset_in(plan, block) + HEAD);
}

/* As there, an address anywhere in a run's first block will do. */
static uint32_t block_of(const hfit_heap *heap, const hfit_plan *plan, const void *payload) {
    return block_number(plan, (uint32_t)((uintptr_t)payload - (uintptr_t)heap));
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    const uint32_t blocks = blocks_for(plan, size);
    const uint32_t block = blocks == 0 ? 0 : take_run(heap, plan, blocks);
    return block == 0 ? NULL : payload_of(heap, plan, block);
}

/* The original takes the low 16 bits of a number beyond the heap: whatever lies there. */
static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    const uint32_t run = block == NULL ? 0 : block_of(heap, plan, block);
    if (run != 0 && run < load_word(heap, LAST)) {
        free_run(heap, plan, run);
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the run tells */
    heap_free(heap, plan, block);
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    return block == NULL
               ? 0
               : length_of(heap, plan, block_of(heap, plan, block)) * unit_of(plan) - HEAD;
}

/* Joins a used run with the free one before it, to where its payload moves. */
static uint32_t join_previous(hfit_heap *heap, const hfit_plan *plan, uint32_t block,
                              size_t payload) {
    const uint32_t previous = get(heap, plan, block, PREVIOUS);
    take_out(heap, plan, previous);
    set_run(heap, plan, previous, next_of(heap, plan, block), 0);
    slide_payload(payload_of(heap, plan, previous), (block - previous) * unit_of(plan), payload);
    return previous;
}

/* The run with at least `blocks` blocks that a smaller one and its free neighbours make; 0, and
 * nothing changed, if they do not. The cases and their order are the original's. */
static uint32_t grow_run(hfit_heap *heap, const hfit_plan *plan, uint32_t block, uint32_t blocks) {
    const uint32_t next = next_of(heap, plan, block);
    const uint32_t previous = get(heap, plan, block, PREVIOUS);
    const uint32_t length = next - block;
    const uint32_t behind = is_free(heap, plan, next) ? length_of(heap, plan, next) : 0;
    const uint32_t before = is_free(heap, plan, previous) ? block - previous : 0;
    const size_t payload = length * unit_of(plan) - HEAD;
    if (length + behind == blocks || (before == 0 && length + behind >= blocks)) {
        join_next(heap, plan, block);
        return block;
    }
    if (before + length >= blocks) {
        return join_previous(heap, plan, block, payload);
    }
    if (before + length + behind >= blocks) {
        join_next(heap, plan, block);
        return join_previous(heap, plan, block, payload);
    }
    return 0;
}

/* Frees what a run has beyond so many blocks. */
static void cut_run(hfit_heap *heap, const hfit_plan *plan, uint32_t block, uint32_t blocks) {
    if (length_of(heap, plan, block) > blocks) {
        split_run(heap, plan, block, blocks, 0);
        free_run(heap, plan, block + blocks);
    }
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    const uint32_t blocks = blocks_for(plan, size);
    if (block == NULL || blocks == 0) {
        return block == NULL ? heap_alloc(heap, plan, size) : NULL;
    }
    uint32_t run = block_of(heap, plan, block);
    if (length_of(heap, plan, run) < blocks) {
        run = grow_run(heap, plan, run, blocks);
        if (run == 0) {
            return move_block(heap, plan, block, heap_usable_size(heap, plan, block), size);
        }
    }
    cut_run(heap, plan, run, blocks);
    raise_footprint(heap, plan, run);
    return payload_of(heap, plan, run);
}

static uint32_t least_chunk(const hfit_plan *plan) {
    return unit_of(plan);
}

static uint32_t header_size(void) {
    return HEAD;
}

static bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed) {
    *needed = blocks_for(plan, size) * unit_of(plan);
    return *needed != 0;
}

static bool room_to_align(const hfit_plan *plan, uint32_t needed, uint32_t alignment,
                          uint32_t *room) {
    return round_sum(needed, alignment, unit_of(plan), room);
}

static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t needed) {
    const uint32_t block = take_run(heap, plan, needed / unit_of(plan));
    return block == 0 ? NO_OFFSET : offset_in(plan, block);
}

static void cut_start(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t start) {
    const uint32_t block = block_number(plan, chunk);
    split_run(heap, plan, block, block_number(plan, start) - block, 0);
    free_run(heap, plan, block);
}

static void cut_end(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t needed) {
    cut_run(heap, plan, block_number(plan, chunk), needed / unit_of(plan));
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t last = load_word(heap, LAST);
    for (uint32_t block = 1; block != last; block = next_of(heap, plan, block)) {
        visitor(context, payload_of(heap, plan, block),
                length_of(heap, plan, block) * unit_of(plan) - HEAD, !is_free(heap, plan, block));
    }
}

/* Free runs on the list, if the links hold; more than `most` if they do not. */
static uint32_t count_listed(const hfit_heap *heap, const hfit_plan *plan, uint32_t most) {
    const uint32_t last = load_word(heap, LAST);
    uint32_t count = 0;
    uint32_t previous = 0;
    uint32_t block = get(heap, plan, 0, NEXT_FREE);
    while (block != 0 && count <= most) {
        if (block >= last || !is_free(heap, plan, block) ||
            get(heap, plan, block, PREVIOUS_FREE) != previous) {
            return most + 1;
        }
        count++;
        previous = block;
        block = get(heap, plan, block, NEXT_FREE);
    }
    return count;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t last = load_word(heap, LAST);
    uint32_t previous = 0;
    uint32_t free_count = 0;
    uint32_t block = 1;
    while (block != last) {
        const uint32_t next = next_of(heap, plan, block);
        if (next <= block || next > last || get(heap, plan, block, PREVIOUS) != previous ||
            (is_free(heap, plan, block) && is_free(heap, plan, previous))) {
            return false;
        }
        free_count += is_free(heap, plan, block);
        previous = block;
        block = next;
    }
    return get(heap, plan, 0, NEXT) == 1 && get(heap, plan, last, NEXT) == 0 &&
           get(heap, plan, last, PREVIOUS) == previous &&
           count_listed(heap, plan, free_count) == free_count;
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, FOOTPRINT);
}

static bool is_plan_sound(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) &&
           (own(plan)->block_size == 8 || own(plan)->block_size == 16) && own(plan)->first <= 1;
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_plan_sound(plan) ? offset_in(plan, 3) + HEAD : 0; /* a multiple of 8 */
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || !is_plan_sound(plan) ||
        region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t blocks = ((uint32_t)region_size - BLOCKS) / unit_of(plan);
    const uint32_t last = (blocks < MOST_BLOCKS ? blocks : MOST_BLOCKS) - 1;
    store_word(heap, LAST, last);
    store_word(heap, FOOTPRINT, offset_in(plan, 1) + HEAD);
    set_run(heap, plan, 0, 1, 0);
    set_run(heap, plan, 1, last, FREE_BIT);
    link_free(heap, plan, 0, 1);
    link_free(heap, plan, 1, 0);
    put(heap, plan, last, NEXT, 0);
    return heap;
}

static const hfit_tunable tunables[] = {
    HFIT_ALIGNMENT_TUNABLE,
    {"block_size", "Bytes of a block, 8 or 16; not less than the alignment.", HFIT_SCALAR,
     offsetof(hfit_block_runs_plan, block_size), 8, 16, 8, HFIT_AMOUNT},
    {"first", "1: the first free run that fits; 0: the smallest.", HFIT_SCALAR,
     offsetof(hfit_block_runs_plan, first), 0, 1, 0, HFIT_CHOICE},
};

const hfit_allocator hfit_block_runs_allocator = {
    .name = "block_runs",
    .title = "best fit over runs of equal blocks",
    .origin = "umm_malloc ed68d0b5",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_block_runs_plan),
    .ignores_region_end = false,
    .account =
        {
            .worst_case = "alloc: linear in the free runs; free: constant",
            .block_bytes = "4, then rounded up to block_size",
            .fragmentation = "best fit: about M n for M live bytes and a largest request of n "
                             "units (Robson 1977)",
            .layout = "| last | footprint | block 0 | block | ... | last block |\n"
                      "a used run: | next | previous | payload ... |\n"
                      "a free run: | next | previous | next free | previous free | ... |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "one",
            .pool_fit.text = "-",
            .block_fit = {.tunable = "first", .texts = {"best", "first"}},
            .order.text = "last freed first",
            .growth.text = "the whole region is free at first",
        },
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .operations = &hfit_block_runs_operations,
    .unlocked = &hfit_block_runs_unlocked,
};
