/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Good fit behind headers of 4 B: see hfit/good_fit.h. The words of a chunk are in
 * good_fit_words.h, the free ones in good_fit_index.h, and what is believed of them from safety
 * level 1 on in good_fit_check.h. It has a top and no sentinel, so the tiling is its own.
 */
#include "hfit/good_fit.h"

#include "hfit/compiler.h"
#include "hfit/descriptor.h"

#define HFIT_THIS(operation) hfit_good_fit_##operation
#define HFIT_TELLS_USABLE 1
#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/tiling/coded.h"
#include "src/tiling/free_list.h"
#include "src/tiling/good_fit_words.h"
#include "src/tiling/good_fit_index.h"
#include "src/tiling/good_fit_check.h"

/* From level 1 on `free` is one function, and the others have their own copy. */
#if HFIT_SAFETY >= 1
#define RELEASE FORCE_INLINE
#else
#define RELEASE CALL_FOR_SIZE
#endif

/* Writes a free chunk, whose neighbours are used, and puts it into the index. */
static inline void put_free(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t word) {
    HFIT_ASSERT(free_size(word) >= CHUNK_LEAST);
    store_word(heap, chunk, word);
    store_word(heap, chunk + free_size(word) - HEADER_SIZE, word);
    index_insert(heap, plan, chunk, rough_size(word));
}

static inline void clear_after_free(hfit_heap *heap, uint32_t chunk) {
    store_word(heap, chunk, load_word(heap, chunk) & ~(uint32_t)AFTER_FREE);
}

/* The top begins at `chunk` now, where a used one of `size` bytes began. */
static FORCE_INLINE void lower_top(hfit_heap *heap, uint32_t chunk, uint32_t size, uint32_t top) {
    if (top > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, top);
    }
    if (HFIT_SAFETY >= 1) {
        store_word(heap, chunk, free_word(size)); /* tells a second free */
    }
    store_word(heap, TOP, chunk);
}

/* Makes a used chunk free, of which `used` tells from safety level 1 on what is behind it, and
 * joins it with what is free beside it. From level 1 on false, and nothing changed, if the free
 * chunk before it is not sound, or else that behind it; of both the latter is known to be. */
static RELEASE bool release(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t header,
                            const used_chunk *used) {
    uint32_t size = chunk_size(header);
    const uint32_t next = chunk + size;
    if ((header & AFTER_FREE) != 0) {
        const uint32_t word = load_word(heap, chunk - HEADER_SIZE);
        const uint32_t before = free_size(word);
        if (!is_previous(heap, chunk, word) || !take_out(heap, chunk - before, used->top)) {
            return false;
        }
        if (HFIT_SAFETY >= 1) {
            store_word(heap, chunk, free_word(size)); /* tells a second free */
        }
        chunk -= before;
        size += before;
    }
    const uint32_t top = HFIT_SAFETY >= 1 ? used->top : load_word(heap, TOP);
    if (next == top) {
        lower_top(heap, chunk, size, next);
        return true;
    }
    uint32_t word = HFIT_SAFETY >= 1 ? used->behind : load_word(heap, next);
    if ((word & CHUNK_FREE) == 0) {
        store_word(heap, next, word | AFTER_FREE);
        word = free_word(size);
    } else {
        if (!CHECKS_WORDS || (header & AFTER_FREE) != 0) {
            index_remove(heap, next);
        } else if (!is_whole(heap, next, word, top) || !take_out(heap, next, top)) {
            return false;
        }
        word = longer_word(word, size);
    }
    put_free(heap, plan, chunk, word);
    return true;
}

/* Makes the first `needed` bytes of a free chunk, whose header stands as this word and which is out
 * of the index, a used one. */
static FORCE_INLINE void use(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t word,
                             uint32_t needed) {
    const uint32_t left = longer_word(word, 0u - needed);
    HFIT_ASSERT(needed <= free_size(word));
    if (rough_size(left) >= CHUNK_LEAST) {
        put_free(heap, plan, chunk + needed, left);
    } else {
        needed = free_size(word);
        clear_after_free(heap, chunk + needed);
    }
    store_word(heap, chunk, needed);
}

/* A used chunk of `needed` bytes at the top; NULL if that has fewer. */
static FORCE_INLINE void *cut_top(hfit_heap *heap, uint32_t needed, uint32_t end) {
    const uint32_t chunk = load_word(heap, TOP);
    if (end - chunk < needed) {
        return NULL;
    }
    store_word(heap, TOP, chunk + needed);
    store_word(heap, chunk, needed);
    count_used(heap, 1);
    return block_at(heap, chunk + HEADER_SIZE);
}

static void *alloc_block(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t needed;
    const uint32_t end = load_word(heap, CHUNKS_END);
    if (!chunk_for(plan, size, end, &needed)) {
        return NULL;
    }
    found_chunk found;
    index_find(heap, plan, needed, &found);
    if (found.offset == NO_OFFSET) {
        return cut_top(heap, needed, end);
    }
    if ((CHECKS_WORDS && (free_size(found.word) < needed ||
                          !is_whole(heap, found.offset, found.word, found.top))) ||
        !take_out_here(heap, found.offset, found.top)) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
        return NULL;
    }
    use(heap, plan, found.offset, found.word, needed);
    count_used(heap, 1);
    return block_at(heap, found.offset + HEADER_SIZE);
}

static FORCE_INLINE void *heap_alloc_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                            size_t *usable) {
    void *block = alloc_block(heap, plan, size);
    if (usable != NULL && block != NULL) {
        const uint32_t chunk = (uint32_t)((uintptr_t)block - (uintptr_t)heap) - HEADER_SIZE;
        *usable = chunk_size(load_word(heap, chunk)) - HEADER_SIZE;
    }
    return block;
}

static FORCE_INLINE size_t heap_free_usable(hfit_heap *heap, const hfit_plan *plan, void *block) {
    used_chunk chunk;
    if (block == NULL || !find_used(heap, plan, block, &chunk)) {
        return 0;
    }
    const bool is_free = release(heap, plan, chunk.offset, chunk.header, &chunk);
    if (CHECKS_WORDS && !is_free) {
        HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, block);
        return 0;
    }
    count_used(heap, 0u - 1);
    return chunk_size(chunk.header) - HEADER_SIZE;
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the header tells */
    heap_free(heap, plan, block);
}

/* Bytes of free memory behind a used chunk that ends at `next`: of a chunk or the top. */
static uint32_t free_behind(const hfit_heap *heap, uint32_t next) {
    if (next == load_word(heap, TOP)) {
        return load_word(heap, CHUNKS_END) - next;
    }
    const uint32_t word = load_word(heap, next);
    return (word & CHUNK_FREE) != 0 ? free_size(word) : 0;
}

/* Cuts a used chunk down to `needed` bytes where what is left can be free. */
static void shrink(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t needed) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t left = chunk_size(header) - needed;
    HFIT_ASSERT(chunk_size(header) >= needed);
    if (left >= CHUNK_LEAST || (left != 0 && free_behind(heap, chunk + needed + left) != 0)) {
        store_word(heap, chunk, header - left);
        used_chunk rest;
        rest.offset = chunk + needed;
        rest.header = left;
        if (HFIT_SAFETY >= 1) {
            load_behind(heap, &rest);
        }
        const bool is_free = release(heap, plan, rest.offset, rest.header, &rest);
        if (CHECKS_WORDS && !is_free) {
            store_word(heap, chunk, header);
        }
    }
}

/* Makes a used chunk longer by the free one behind it, or by `wanted` bytes of the top there. */
static void absorb(hfit_heap *heap, uint32_t chunk, uint32_t wanted) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t next = chunk + chunk_size(header);
    if (next == load_word(heap, TOP)) {
        store_word(heap, TOP, next + wanted);
    } else {
        wanted = free_size(load_word(heap, next));
        index_remove(heap, next);
        clear_after_free(heap, next + wanted);
    }
    store_word(heap, chunk, header + wanted);
}

/* Makes a block longer by its free neighbours, the one before it, too, into which it then slides
 * down. NULL, and nothing changed, if they are not enough. */
static void *grow_down(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t needed) {
    const uint32_t header = load_word(heap, chunk);
    const uint32_t own = chunk_size(header);
    if ((header & AFTER_FREE) == 0) {
        return NULL;
    }
    const uint32_t before = free_size(load_word(heap, chunk - HEADER_SIZE));
    const uint32_t joined = before + own;
    unsigned char *moved = block_at(heap, chunk - before + HEADER_SIZE);
    if (joined < needed && joined + free_behind(heap, chunk + own) < needed) {
        return NULL;
    }
    if (joined < needed) {
        absorb(heap, chunk, needed - joined);
    }
    index_remove(heap, chunk - before);
    store_word(heap, chunk - before, before + chunk_size(load_word(heap, chunk)));
    if (HFIT_SAFETY >= 1) {
        store_word(heap, chunk, free_word(own)); /* tells a free of where it was */
    }
    slide_payload(moved, before, own - HEADER_SIZE);
    shrink(heap, plan, chunk - before, needed);
    return moved;
}

/* Makes a used chunk long enough for `size` bytes, where it is or elsewhere; the block, or NULL,
 * and nothing changed. */
static void *resize_chunk(hfit_heap *heap, const hfit_plan *plan, used_chunk chunk, size_t size) {
    uint32_t needed;
    void *block = block_at(heap, chunk.offset + HEADER_SIZE);
    const uint32_t own = chunk_size(chunk.header);
    if (!chunk_for(plan, size, load_word(heap, CHUNKS_END), &needed)) {
        return NULL;
    }
    if (needed > own) {
        if (needed - own > free_behind(heap, chunk.offset + own)) {
            void *moved = move_block(heap, plan, block, own - HEADER_SIZE, size);
            return moved != NULL ? moved : grow_down(heap, plan, chunk.offset, needed);
        }
        absorb(heap, chunk.offset, needed - own);
    }
    shrink(heap, plan, chunk.offset, needed);
    return block;
}

static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    used_chunk chunk;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!find_changeable(heap, plan, block, &chunk)) {
        return NULL;
    }
    return resize_chunk(heap, plan, chunk, size);
}

/* Bytes from a chunk to the first one behind it whose block is aligned: 0, or enough for a free
 * chunk. */
static uint32_t aligning_gap(const hfit_heap *heap, uint32_t chunk, uint32_t alignment) {
    uint32_t gap = alignment_gap(heap, chunk + HEADER_SIZE, alignment);
    while (gap != 0 && gap < CHUNK_LEAST) {
        HFIT_LOOP_AT_MOST(2); /* in steps of 8 or more */
        gap += alignment;
    }
    return gap;
}

/* A used chunk that has `needed` bytes behind a gap: any for which the top or another chunk has
 * room in any case, or of the top what just does. NO_OFFSET if there is none. */
static uint32_t take_aligned(hfit_heap *heap, const hfit_plan *plan, uint32_t alignment,
                             uint32_t needed) {
    const uint32_t end = load_word(heap, CHUNKS_END);
    const uint32_t top = load_word(heap, TOP);
    const uint32_t most = alignment + CHUNK_LEAST - plan->alignment; /* of a gap */
    if (needed < end && most < end - needed) {
        const unsigned char *block = heap_alloc(heap, plan, needed + most - HEADER_SIZE);
        if (block != NULL || needed + most <= end - top) {
            return block == NULL ? NO_OFFSET
                                 : (uint32_t)(block - (unsigned char *)heap) - HEADER_SIZE;
        }
    }
    const uint32_t gap = aligning_gap(heap, top, alignment);
    if (gap > end - top || needed > end - top - gap) {
        return NO_OFFSET;
    }
    store_word(heap, TOP, top + gap + needed);
    store_word(heap, top, gap + needed);
    count_used(heap, 1);
    return top;
}

/* Cuts a used chunk down to `needed` bytes behind its first block that is aligned; what lies before
 * it, if anything, is free. A top that was just cut gets back what it had. */
static uint32_t align_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                            uint32_t alignment, uint32_t needed) {
    const uint32_t gap = aligning_gap(heap, chunk, alignment);
    uint32_t header = load_word(heap, chunk);
    const uint32_t end = chunk + header;
    if (gap != 0) {
        put_free(heap, plan, chunk, free_word(gap));
        chunk += gap;
        header += AFTER_FREE - gap;
    }
    if (end == load_word(heap, TOP)) {
        store_word(heap, TOP, chunk + needed);
        header = needed | (header & AFTER_FREE);
    }
    store_word(heap, chunk, header);
    shrink(heap, plan, chunk, needed);
    return chunk;
}

static void *heap_alloc_aligned(hfit_heap *heap, const hfit_plan *plan, size_t alignment,
                                size_t size) {
    uint32_t needed;
    if (!is_power_of_two(alignment) || alignment > HFIT_LARGEST_BLOCK / 2) {
        return NULL;
    }
    if (alignment <= plan->alignment) {
        return heap_alloc(heap, plan, size);
    }
    if (!chunk_for(plan, size, load_word(heap, CHUNKS_END), &needed)) {
        return NULL;
    }
    const uint32_t chunk = take_aligned(heap, plan, (uint32_t)alignment, needed);
    return chunk == NO_OFFSET
               ? NULL
               : block_at(heap, HEADER_SIZE +
                                    align_chunk(heap, plan, chunk, (uint32_t)alignment, needed));
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    used_chunk chunk;
    if (block == NULL || !find_changeable(heap, plan, block, &chunk)) {
        return 0;
    }
    return chunk_size(chunk.header) - HEADER_SIZE;
}

static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t end = load_word(heap, CHUNKS_END);
    (void)plan;
    for (uint32_t chunk = load_word(heap, CHUNKS_FIRST); chunk < top;) {
        const uint32_t word = load_word(heap, chunk);
        const bool is_free = (word & CHUNK_FREE) != 0;
        const uint32_t size = is_free ? free_size(word) : chunk_size(word);
        if (size < CHUNK_LEAST || size > top - chunk) {
            return; /* damaged: `check` tells */
        }
        visitor(context, block_at(heap, chunk + HEADER_SIZE), size - HEADER_SIZE, !is_free);
        chunk += size;
    }
    if (end - top >= CHUNK_LEAST) {
        visitor(context, block_at(heap, top + HEADER_SIZE), end - top - HEADER_SIZE, false);
    }
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t before = load_word(heap, FOOTPRINT);
    (void)plan;
    return top > before ? top : before;
}

/* The end of the last chunk up to `end`. */
static uint32_t last_end(const hfit_plan *plan, uint32_t end) {
    return ((end + HEADER_SIZE) & ~(plan->alignment - 1)) - HEADER_SIZE;
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    if (!is_alignment_allowed(plan->alignment)) {
        return 0;
    }
    uint32_t end = last_end(plan, BINS + CHUNK_LEAST);
    while (first_chunk(plan, last_bin(plan, end)) + CHUNK_LEAST > end) {
        end += plan->alignment;
    }
    return end;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    hfit_heap *heap = region;
    if (!is_region_usable(region, region_size, plan) || region_size < BINS + CHUNK_LEAST) {
        return NULL;
    }
    const uint32_t end = last_end(plan, usable_region(region_size));
    const uint32_t bin = last_bin(plan, end);
    const uint32_t first = first_chunk(plan, bin);
    if (first + CHUNK_LEAST > end) {
        return NULL;
    }
    for (uint32_t offset = 0; offset < first; offset += 4) {
        store_word(heap, offset, offset < BINS ? 0 : coded(NO_OFFSET));
    }
    store_word(heap, CHUNKS_END, end);
    store_word(heap, TOP, first);
    store_word(heap, CHUNKS_FIRST, first);
    store_word(heap, map_of(bin + 1), bit_of(bin + 1));
    return heap;
}

/* No room is less than a chunk: the top serves what it has. */
static bool reach_of(const hfit_heap *heap, const hfit_plan *plan, hfit_reach *reach) {
    const uint32_t first = load_word(heap, CHUNKS_FIRST);
    reach->most = (uint32_t)heap_footprint(heap, plan) - first;
    reach->room = load_word(heap, CHUNKS_END) - first;
    reach->chunk = 0;
    return true;
}

static bool holes_of(const hfit_plan *plan, size_t live, hfit_holes *holes) {
    (void)live;
    holes->header = HEADER_SIZE;
    holes->smallest_chunk = CHUNK_LEAST;
    holes->spare = CHUNK_LEAST - plan->alignment;
    holes->class_log2 = 2;
    holes->is_by_address = false;
    return true;
}

static const hfit_tunable tunables[] = {HFIT_ALIGNMENT_TUNABLE};

const hfit_allocator hfit_good_fit_allocator = {
    .name = "good_fit",
    .title = "good fit, the top last",
    .origin =
        "classes of Masmano et al. 2004 and boundary tags of Knuth 1973, section 2.5; the top "
        "as in Lea 2005 (dlmalloc)",
    .tunables = tunables,
    .tunable_count = sizeof tunables / sizeof tunables[0],
    .plan_size = sizeof(hfit_good_fit_plan),
    .ignores_region_end = false,
    .reach = reach_of,
    .account =
        {
            .worst_case = "constant; alloc: two chunks of a list and four words of the maps looked "
                          "at, one split; free: two joins",
            .block_bytes = "4 for the header, then rounded up to the alignment; at least 16 a "
                           "chunk; up to 12 more where the rest would be no chunk",
            .fragmentation = "M + (k + 1) c for k live chunks of M bytes; c: the largest request "
                             "and a class more, a fourth of it",
            .layout = "| maps | end | top | footprint | first | heads of classes |\n"
                      "| chunk | chunk | ... | top |\n"
                      "a used chunk: | size+F | payload ... |\n"
                      "a free chunk: | size+F | next | previous | ... | size+F |",
        },
    .axes =
        {
            .block_sizes.text = "any",
            .splitting.text = "always",
            .coalescing.text = "at once",
            .pools.text = "exact sizes, then powers of two",
            .pool_fit.text = "next larger that has one",
            .block_fit.text = "good",
            .order.text = "last freed first",
            .growth.text = "from the end of what is in use",
        },
    .free_lists = HFIT_FREE_LISTS_CLASSES,
    .limit = HFIT_LIMIT_HOLES,
    .holes = holes_of,
    .operations = &hfit_good_fit_operations,
    .unlocked = &hfit_good_fit_unlocked,
};
