/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit by address: see hfit/address_first_fit.h. The words are in address_first_fit_words.h,
 * and what is believed of them from safety level 1 on in address_first_fit_check.h.
 */
#include "hfit/address_first_fit.h"

#include "hfit/descriptor.h"

#define HFIT_TELLS_USABLE 1
#define HFIT_THIS(operation) hfit_address_first_fit_##operation
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/tiling/coded.h"
#include "src/tiling/address_first_fit_words.h"
#include "src/tiling/address_first_fit_check.h"

static inline void add_to_tally(hfit_heap *heap, uint32_t added) {
    if (CHECKS_WORDS) {
        store_word(heap, TALLY, load_word(heap, TALLY) + added);
    }
}

/* Takes `needed` bytes from the start of the free chunk `at.next`, or all of it where the rest can
 * be none, and links the one before it with what is left, or with the next. Returns the offset
 * behind them. */
static FORCE_INLINE uint32_t take(hfit_heap *heap, const hfit_plan *plan, const free_neighbours *at,
                                  uint32_t size, uint32_t needed) {
    const uint32_t chunk = at->next;
    const uint32_t left = size - needed;
    uint32_t next = next_free(heap, chunk);
    uint32_t end = chunk + size;
    HFIT_ASSERT(needed <= size);
    if (left >= least_chunk(plan)) {
        end = chunk + needed;
        store_free_size(heap, end, left);
        store_next(heap, end, next);
        next = end;
    }
    store_next(heap, at->previous, next);
    const uint32_t footprint = load_word(heap, FOOTPRINT);
    if (end > footprint) {
        store_word(heap, FOOTPRINT, end);
        add_to_tally(heap, end - footprint);
    }
    return end;
}

/* Where words are checked false where a walk over free chunks ends: a link leads nowhere or, which
 * is told, not on to a word before `end`. Below, HEAD ends it. */
static FORCE_INLINE bool leads_on(const hfit_heap *heap, uint32_t previous, uint32_t chunk,
                                  uint32_t end) {
    return !CHECKS_WORDS || (chunk > previous && is_word_below(chunk, end - NEXT)) ||
           (chunk != NO_OFFSET && refuse(heap, HFIT_MISUSE_DAMAGED, heap));
}

/* Where words are checked false, which is told, if the chunk that is to serve is not a free one. */
static FORCE_INLINE bool is_found_sound(const hfit_heap *heap, const hfit_plan *plan,
                                        uint32_t chunk, uint32_t end) {
    return !CHECKS_WORDS ||
           (is_chunk_offset(plan, chunk, end) && is_free_sound(heap, plan, chunk, end)) ||
           refuse(heap, HFIT_MISUSE_DAMAGED, heap);
}

static FORCE_INLINE void *heap_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                            size_t *usable) {
    uint32_t needed;
    uint32_t previous;
    uint32_t free;
    uint32_t chunk = HEAD;
    const uint32_t end = CHECKS_WORDS ? load_word(heap, CHUNKS_END) : 0;
    if (!chunk_for(plan, size, &needed)) {
        return NULL;
    }
    do {
        previous = chunk;
        chunk = next_free(heap, chunk);
        if (!leads_on(heap, previous, chunk, end)) {
            return NULL;
        }
        free = free_size(heap, chunk);
    } while (free < needed);
    if (chunk == NO_OFFSET || !is_found_sound(heap, plan, chunk, end)) {
        return NULL;
    }
    const free_neighbours at = {previous, chunk};
    const uint32_t behind = take(heap, plan, &at, free, needed);
    store_used_size(heap, chunk, behind - chunk);
    add_to_tally(heap, 1);
    if (usable != NULL) {
        *usable = behind - chunk - HEADER_SIZE;
    }
    return block_at(heap, chunk + HEADER_SIZE);
}

/* Makes a used chunk free and joins it with its free neighbours. */
static FORCE_INLINE void release(hfit_heap *heap, const used_chunk *used) {
    uint32_t chunk = used->offset;
    uint32_t size = used->size;
    uint32_t next = used->beside.next;
    const uint32_t previous = used->beside.previous;
    if (chunk + size == next) {
        size += free_size(heap, next);
        next = load_link(heap, next + NEXT);
    }
    if (HFIT_SAFETY >= 1) {
        store_free_size(heap, chunk, size); /* left behind inside: tells a second free */
    }
    const uint32_t before = free_size(heap, previous);
    if (previous + before == chunk) { /* never of HEAD */
        chunk = previous;
        size += before;
    } else {
        store_link(heap, previous + NEXT, chunk);
    }
    store_free_size(heap, chunk, size);
    store_link(heap, chunk + NEXT, next);
    add_to_tally(heap, 0u - 1);
}

static FORCE_INLINE size_t heap_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block) {
    used_chunk chunk;
    if (block == NULL || !find_used(heap, plan, block, &chunk)) {
        return 0;
    }
    release(heap, &chunk);
    return chunk.size - HEADER_SIZE;
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the header tells */
    heap_free(heap, plan, block);
}

/* Cuts a used chunk down to `needed` bytes where the rest can be a chunk, or belongs to a free one.
 */
static void shrink(hfit_heap *heap, const hfit_plan *plan, const used_chunk *chunk,
                   uint32_t needed) {
    const uint32_t left = chunk->size - needed;
    HFIT_ASSERT(chunk->size >= needed);
    if (left >= least_chunk(plan) ||
        (left != 0 && chunk->beside.next == chunk->offset + chunk->size)) {
        const used_chunk rest = {
            chunk->offset + needed, left, {chunk->beside.previous, chunk->beside.next}};
        store_used_size(heap, chunk->offset, needed);
        add_to_tally(heap, 1);
        release(heap, &rest);
    }
}

/* Makes a used chunk `needed` bytes long by the free one behind it. False, and nothing changed, if
 * that is not enough. */
static bool grow(hfit_heap *heap, const hfit_plan *plan, const used_chunk *chunk, uint32_t needed) {
    const uint32_t next = chunk->offset + chunk->size;
    const uint32_t more = needed - chunk->size;
    if (chunk->beside.next != next || free_size(heap, next) < more) {
        return false;
    }
    const uint32_t end = take(heap, plan, &chunk->beside, free_size(heap, next), more);
    store_used_size(heap, chunk->offset, end - chunk->offset);
    return true;
}

/* Makes the block of a used chunk one of `size` bytes. */
static void *resize_chunk(hfit_heap *heap, const hfit_plan *plan, const used_chunk *chunk,
                          size_t size) {
    uint32_t needed;
    void *block = block_at(heap, chunk->offset + HEADER_SIZE);
    if (!chunk_for(plan, size, &needed)) {
        return NULL;
    }
    if (needed <= chunk->size) {
        shrink(heap, plan, chunk, needed);
        return block;
    }
    return grow(heap, plan, chunk, needed)
               ? block
               : move_block(heap, plan, block, chunk->size - HEADER_SIZE, size);
}

static FORCE_INLINE void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block,
                                      size_t size) {
    used_chunk chunk;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!find_changeable(heap, plan, block, &chunk)) {
        return NULL;
    }
    return resize_chunk(heap, plan, &chunk, size);
}

/* Bytes from a chunk to the first one behind it whose block is aligned: 0, or enough for a free
 * chunk. */
static uint32_t aligning_gap(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                             uint32_t alignment) {
    const uint32_t gap = alignment_gap(heap, chunk + HEADER_SIZE, alignment);
    return gap != 0 && gap < least_chunk(plan) ? gap + alignment : gap;
}

/* A used chunk of `needed` bytes behind a gap, which stays free, in the free chunk `at.next`. */
static void *use_aligned(hfit_heap *heap, const hfit_plan *plan, free_neighbours at, uint32_t gap,
                         uint32_t needed) {
    if (gap != 0) {
        const uint32_t size = free_size(heap, at.next);
        at.previous = at.next;
        at.next += gap;
        store_free_size(heap, at.next, size - gap);
        store_next(heap, at.next, next_free(heap, at.previous));
        store_free_size(heap, at.previous, gap);
    }
    const uint32_t end = take(heap, plan, &at, free_size(heap, at.next), needed);
    store_used_size(heap, at.next, end - at.next);
    add_to_tally(heap, 1);
    return block_at(heap, at.next + HEADER_SIZE);
}

/* The lowest chunk with room behind a gap serves, which stays free. */
static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    uint32_t needed = 0; /* else gcc warns at -Og */
    if (!is_power_of_two(alignment) || alignment > HFIT_LARGEST_BLOCK / 2) {
        return NULL;
    }
    if (alignment <= plan->alignment) {
        return heap_alloc(heap, plan, size);
    }
    if (!chunk_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t end = load_word(heap, CHUNKS_END);
    uint32_t previous = HEAD;
    uint32_t chunk = next_free(heap, HEAD);
    while (leads_on(heap, previous, chunk, end) && chunk != NO_OFFSET) {
        const uint32_t free = free_size(heap, chunk);
        const uint32_t gap = aligning_gap(heap, plan, chunk, (uint32_t)alignment);
        if (gap <= free && needed <= free - gap) {
            return is_found_sound(heap, plan, chunk, end)
                       ? use_aligned(heap, plan, (free_neighbours){previous, chunk}, gap, needed)
                       : NULL;
        }
        previous = chunk;
        chunk = next_free(heap, chunk);
    }
    return NULL;
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    used_chunk chunk;
    return block != NULL && find_changeable(heap, plan, block, &chunk) ? chunk.size - HEADER_SIZE
                                                                       : 0;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t end = load_word(heap, CHUNKS_END);
    uint32_t free = next_free(heap, HEAD);
    uint32_t size;
    for (uint32_t chunk = first_chunk(plan); chunk < end; chunk += size) {
        const bool is_free = chunk == free;
        if (!find_size(heap, plan, chunk, is_free, &size)) {
            return; /* damaged: `check` tells */
        }
        free = is_free ? next_free(heap, chunk) : free;
        visitor(context, block_at(heap, chunk + HEADER_SIZE), size - HEADER_SIZE, !is_free);
    }
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, FOOTPRINT);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    return is_alignment_allowed(plan->alignment) ? first_chunk(plan) + least_chunk(plan) : 0;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    hfit_heap *heap = region;
    const uint32_t first = plan == NULL ? 0 : first_chunk(plan);
    if (!is_region_usable(region, region_size, plan) || region_size < first + least_chunk(plan)) {
        return NULL;
    }
    const uint32_t end = last_end(plan, usable_region(region_size));
    store_free_size(heap, HEAD, head_size(end));
    store_next(heap, HEAD, first);
    store_word(heap, CHUNKS_END, end);
    store_word(heap, FOOTPRINT, first);
    store_word(heap, TALLY, first);
    store_free_size(heap, first, end - first);
    store_next(heap, first, NO_OFFSET);
    return heap;
}

/* The chunk that the region's end cuts is tried last. */
static bool reach_of(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach) {
    const uint32_t first = first_chunk(plan);
    reach->most = load_word(heap, FOOTPRINT) - first;
    reach->room = load_word(heap, CHUNKS_END) - first;
    reach->chunk = least_chunk(plan);
    return true;
}

static bool holes_of(const hfit_plan *plan, size_t live, hfit_holes *holes) {
    (void)live;
    holes->header = HEADER_SIZE;
    holes->smallest_chunk = least_chunk(plan);
    holes->spare = least_chunk(plan) - plan->alignment;
    holes->class_log2 = 0;
    holes->is_by_address = true;
    return true;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_address_first_fit_allocator = {
    .name = "address_first_fit",
    .title = "first fit by address, in the least code",
    .origin = "address-ordered first fit (Knuth 1973, section 2.5, algorithms A and B)",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_address_first_fit_plan),
    .ignores_region_end = false,
    .reach = reach_of,
    .account =
        {
            .worst_case = "alloc, free: one step a free chunk passed over, so linear in the free "
                          "chunks; no bound but their number",
            .block_bytes = "4 for the header, then rounded up to the alignment; at least 8 a chunk",
            .fragmentation = "M (1 + ceil(log2 n)) for M live bytes and a largest request of n "
                             "units (Robson 1977, bound for first fit)",
            .layout = "| no request | head | end | footprint | tally | chunk | ... | chunk |\n"
                      "a used chunk: | size | payload ... |\n"
                      "a free chunk: | size | next | ... |",
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
            .growth.text = "the whole region is free at first",
        },
    .free_lists = HFIT_FREE_LISTS_SINGLE,
    .address_order = "alignment", /* whatever it is */
    .limit = HFIT_LIMIT_HOLES,
    .holes = holes_of,
    .operations = &hfit_address_first_fit_operations,
    .unlocked = &hfit_address_first_fit_unlocked,
};
