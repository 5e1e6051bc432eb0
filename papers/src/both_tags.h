/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks with a tag at either end, 30 free lists by powers of two and a slop: the block that was
 * split last, which is tried before the lists.
 *
 *   0           12     16           first - 4                                    break
 *   +-----------+------+------------+------+-------+-------+- ... -+-------+------+------------+
 *   | low level | slop | bins       | used | chunk | chunk |       | chunk | used | not asked  |
 *   |           |      |            |      |       |       |       |       |      | for        |
 *   +-----------+------+------------+------+-------+-------+- ... -+-------+------+------------+
 *
 *   used   | size+U | the caller's bytes ...             | size+U |
 *   free   | size   | next of the bin | bin | ...        | size   |
 *
 * Sizes count both tags and are multiples of the alignment. The lone tags before the first chunk
 * and at the break say that nothing free lies beyond; the one at the break is absorbed when the
 * break moves on. No two free chunks are neighbours. A bin's list is linked one way, so that a
 * chunk that is joined with its neighbour is searched for; `bin` is kept by some includers only.
 *
 * A source that includes this file first defines HFIT_THIS(operation), then defines the static
 * functions declared below; what it gets are all functions of the contract.
 */
#ifndef PAPERS_BOTH_TAGS_H
#define PAPERS_BOTH_TAGS_H

#include "src/size.h"
#include "src/region.h"
#include "src/operations/work.h"
#include "src/operations/operations.h"
#include "src/aligned.h"
#include "src/cut_chunk.h"
#include "src/logarithm.h"
#include "src/low_level.h"

enum {
    SLOP = LOW_CONTROL,
    BINS = SLOP + 4,
    BIN_COUNT = 30,
    OWN_CONTROL = BINS + 4 * BIN_COUNT,
    TAG_SIZE = 4,
    TAGS_SIZE = 8,
    TAG_USED = 1,
    NEXT_FREE = 4,
    KEPT_BIN = 8,
    CHUNK_LEAST = 16,
};

/* Bytes of control words of the includer's own, at OWN_CONTROL. */
static inline uint32_t more_control(void);

/* The least bytes that are split off. */
static inline uint32_t save_extra(void);

/* log2 of what is asked of the low-level allocator at a time, all of it one chunk; memory before it
 * that is free joins it. 0: just a block with its tags and two lone tags is asked for, which all
 * becomes the block's. */
static inline uint32_t step_of(const hfit_plan *plan);

/* True if, before all else, the request's own bin is searched for a chunk less than a quarter too
 * large. */
static inline bool prefers_close_fit(void);

/* True if a free chunk remembers its bin. */
static inline bool keeps_bin(void);

/* The first bin from `bin` on that is not empty, BIN_COUNT if all are. */
static uint32_t next_bin(const hfit_heap *heap, uint32_t bin);

/* A bin has its first chunk, or lost its last. */
static inline void bin_changed(hfit_heap *heap, uint32_t bin, bool is_empty);

/* True if the includer's own control words hold. */
static inline bool is_own_control_sound(const hfit_heap *heap);

static inline uint32_t control_size(void) {
    return OWN_CONTROL + more_control();
}

static inline uint32_t head_of(uint32_t bin) {
    return BINS + 4 * bin;
}

/* next_bin by looking at one bin after the other. */
static inline uint32_t scan_bins(const hfit_heap *heap, uint32_t bin) {
    while (bin < BIN_COUNT && load_word(heap, head_of(bin)) == NO_OFFSET) {
        bin++;
    }
    return bin;
}

static inline uint32_t first_chunk(const hfit_plan *plan) {
    const uint32_t mask = plan->alignment - 1;
    return ((control_size() + TAGS_SIZE + mask) & ~mask) - TAG_SIZE;
}

static inline uint32_t size_in(uint32_t tag) {
    return tag & ~(uint32_t)TAG_USED;
}

static inline void set_tags(hfit_heap *heap, uint32_t chunk, uint32_t size, uint32_t used) {
    store_word(heap, chunk, size | used);
    store_word(heap, chunk + size - TAG_SIZE, size | used);
}

static inline uint32_t bin_of(uint32_t size) {
    const uint32_t bin = log2_down(size - TAGS_SIZE);
    return bin < BIN_COUNT ? bin : BIN_COUNT - 1;
}

static void insert_chunk(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    const uint32_t bin = bin_of(size);
    const uint32_t next = load_word(heap, head_of(bin));
    store_word(heap, chunk + NEXT_FREE, next);
    if (keeps_bin()) {
        store_word(heap, chunk + KEPT_BIN, bin);
    }
    store_word(heap, head_of(bin), chunk);
    if (next == NO_OFFSET) {
        bin_changed(heap, bin, false);
    }
}

/* Takes out of a bin the chunk that the word at `link` refers to. */
static uint32_t take_at(hfit_heap *heap, uint32_t bin, uint32_t link) {
    const uint32_t chunk = load_word(heap, link);
    const uint32_t next = load_word(heap, chunk + NEXT_FREE);
    store_word(heap, link, next);
    if (next == NO_OFFSET && link == head_of(bin)) {
        bin_changed(heap, bin, true);
    }
    return chunk;
}

/* Takes a free chunk that will be part of a larger one out of the slop or its bin. */
static void remove_chunk(hfit_heap *heap, uint32_t chunk, uint32_t size) {
    if (chunk == load_word(heap, SLOP)) {
        store_word(heap, SLOP, NO_OFFSET);
        return;
    }
    const uint32_t bin = keeps_bin() ? load_word(heap, chunk + KEPT_BIN) : bin_of(size);
    uint32_t link = head_of(bin);
    while (load_word(heap, link) != chunk) {
        link = load_word(heap, link) + NEXT_FREE;
    }
    (void)take_at(heap, bin, link);
}

/* Takes the first chunk of a bin that has `least` to `most` bytes; NO_OFFSET if there is none. */
static uint32_t take_from_bin(hfit_heap *heap, uint32_t bin, uint32_t least, uint32_t most) {
    uint32_t link = head_of(bin);
    uint32_t chunk = load_word(heap, link);
    while (chunk != NO_OFFSET) {
        const uint32_t size = size_in(load_word(heap, chunk));
        if (size >= least && size <= most) {
            return take_at(heap, bin, link);
        }
        link = chunk + NEXT_FREE;
        chunk = load_word(heap, link);
    }
    return NO_OFFSET;
}

static uint32_t take_from_bins(hfit_heap *heap, uint32_t needed) {
    uint32_t bin = next_bin(heap, bin_of(needed));
    uint32_t chunk = NO_OFFSET;
    while (bin < BIN_COUNT && chunk == NO_OFFSET) {
        chunk = take_from_bin(heap, bin, needed, UINT32_MAX);
        bin = next_bin(heap, bin + 1);
    }
    return chunk;
}

static uint32_t take_slop(hfit_heap *heap, uint32_t needed) {
    const uint32_t slop = load_word(heap, SLOP);
    if (slop == NO_OFFSET || size_in(load_word(heap, slop)) < needed) {
        return NO_OFFSET;
    }
    store_word(heap, SLOP, NO_OFFSET);
    return slop;
}

/* A free chunk of `needed` bytes or more at the break, out of all lists, or NO_OFFSET. */
static uint32_t take_fresh(hfit_heap *heap, const hfit_plan *plan, uint32_t needed) {
    const uint32_t mask = plan->alignment - 1;
    const uint32_t before = load_word(heap, load_word(heap, LOW_BREAK) - TAGS_SIZE);
    const bool joins = step_of(plan) != 0 && (before & TAG_USED) == 0;
    const uint32_t ask = step_of(plan) != 0 ? needed : needed + ((TAGS_SIZE + mask) & ~mask);
    uint32_t given;
    const uint32_t start = low_level_take(heap, hfit_granular(ask, step_of(plan)),
                                          joins ? needed - before : ask, &given);
    if (start == NO_OFFSET) {
        return NO_OFFSET;
    }
    uint32_t chunk = start - TAG_SIZE;
    store_word(heap, chunk + given, TAG_USED);
    if (joins) {
        chunk -= before;
        given += before;
        remove_chunk(heap, chunk, before);
    }
    set_tags(heap, chunk, given, 0);
    return chunk;
}

/* Makes `needed` bytes of a free chunk used; the rest, if it is worth it, becomes the slop. */
static void use_chunk(hfit_heap *heap, uint32_t chunk, uint32_t needed) {
    const uint32_t available = size_in(load_word(heap, chunk));
    if (available - needed >= save_extra()) {
        const uint32_t old = load_word(heap, SLOP);
        if (old != NO_OFFSET) {
            insert_chunk(heap, old, size_in(load_word(heap, old)));
        }
        set_tags(heap, chunk + needed, available - needed, 0);
        store_word(heap, SLOP, chunk + needed);
    } else {
        needed = available;
    }
    set_tags(heap, chunk, needed, TAG_USED);
    low_level_note_end(heap, chunk + needed + TAG_SIZE);
}

/* Stores the smallest chunk that holds `size` bytes. False if no region could. */
static inline bool chunk_size_for(const hfit_plan *plan, size_t size, uint32_t *needed) {
    if (!round_size(size, TAGS_SIZE, plan->alignment, needed)) {
        return false;
    }
    *needed = *needed < CHUNK_LEAST ? CHUNK_LEAST : *needed;
    return true;
}

static uint32_t take_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t needed) {
    const uint32_t payload = needed - TAGS_SIZE;
    uint32_t chunk = NO_OFFSET;
    if (prefers_close_fit()) {
        chunk = take_from_bin(heap, bin_of(needed), needed, needed + (payload + 3) / 4 - 1);
    }
    if (chunk == NO_OFFSET) {
        chunk = take_slop(heap, needed);
    }
    if (chunk == NO_OFFSET) {
        chunk = take_from_bins(heap, needed);
    }
    if (chunk == NO_OFFSET) {
        chunk = take_fresh(heap, plan, needed);
    }
    if (chunk != NO_OFFSET) {
        use_chunk(heap, chunk, needed);
    }
    return chunk;
}

static void *heap_alloc(hfit_heap *heap, const hfit_plan *plan, size_t size) {
    uint32_t needed;
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t chunk = take_chunk(heap, plan, needed);
    return chunk == NO_OFFSET ? NULL : block_at(heap, chunk + TAG_SIZE);
}

/* Makes a used chunk free and joins it with its free neighbours. */
static void release_chunk(hfit_heap *heap, uint32_t chunk) {
    uint32_t size = size_in(load_word(heap, chunk));
    const uint32_t next = load_word(heap, chunk + size);
    const uint32_t previous = load_word(heap, chunk - TAG_SIZE);
    if ((next & TAG_USED) == 0) {
        remove_chunk(heap, chunk + size, next);
        size += next;
    }
    if ((previous & TAG_USED) == 0) {
        chunk -= previous;
        remove_chunk(heap, chunk, previous);
        size += previous;
    }
    set_tags(heap, chunk, size, 0);
    insert_chunk(heap, chunk, size);
}

static inline uint32_t chunk_of(const hfit_heap *heap, const void *block) {
    return (uint32_t)((uintptr_t)block - (uintptr_t)heap) - TAG_SIZE;
}

static void heap_free(hfit_heap *heap, const hfit_plan *plan, void *block) {
    (void)plan;
    if (block != NULL) {
        release_chunk(heap, chunk_of(heap, block));
    }
}

static void heap_free_sized(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    (void)size; /* the tag tells */
    heap_free(heap, plan, block);
}

/* A block stays while it fills at least half its chunk, and moves otherwise; where there is no room
 * to move and it need not, it stays. */
static void *heap_resize(hfit_heap *heap, const hfit_plan *plan, void *block, size_t size) {
    uint32_t needed;
    if (block == NULL) {
        return heap_alloc(heap, plan, size);
    }
    if (!chunk_size_for(plan, size, &needed)) {
        return NULL;
    }
    const uint32_t own = size_in(load_word(heap, chunk_of(heap, block)));
    if (needed <= own && needed >= own / 2) {
        return block;
    }
    void *moved = move_block(heap, plan, block, own - TAGS_SIZE, size);
    return moved == NULL && needed <= own ? block : moved;
}

/* Cuts a used chunk at `offset` into two used ones. */
static void cut_chunk(hfit_heap *heap, uint32_t chunk, uint32_t offset) {
    const uint32_t size = size_in(load_word(heap, chunk));
    set_tags(heap, chunk + offset, size - offset, TAG_USED);
    set_tags(heap, chunk, offset, TAG_USED);
}

static bool room_to_align(const hfit_plan *plan, uint32_t needed, uint32_t alignment,
                          uint32_t *room) {
    return round_size(needed, alignment + CHUNK_LEAST, plan->alignment, room);
}

static uint32_t least_chunk(const hfit_plan *plan) {
    (void)plan;
    return CHUNK_LEAST;
}

static uint32_t header_size(void) {
    return TAG_SIZE;
}

static void cut_start(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t start) {
    (void)plan;
    cut_chunk(heap, chunk, start - chunk);
    release_chunk(heap, chunk);
}

static void cut_end(hfit_heap *heap, const hfit_plan *plan, uint32_t chunk, uint32_t needed) {
    (void)plan;
    if (size_in(load_word(heap, chunk)) - needed >= CHUNK_LEAST) {
        cut_chunk(heap, chunk, needed);
        release_chunk(heap, chunk + needed);
    }
}

static size_t heap_usable_size(const hfit_heap *heap, const hfit_plan *plan, const void *block) {
    (void)plan;
    return block == NULL ? 0 : size_in(load_word(heap, chunk_of(heap, block))) - TAGS_SIZE;
}

/* The memory never asked for is told as a free block, since a request can have it. */
static void heap_walk(const hfit_heap *heap, const hfit_plan *plan, hfit_visitor visitor,
                      void *context) {
    const uint32_t brk = load_word(heap, LOW_BREAK);
    const uint32_t left = load_word(heap, LOW_END) - brk;
    uint32_t chunk = first_chunk(plan);
    while (chunk < brk - TAG_SIZE) {
        const uint32_t tag = load_word(heap, chunk);
        visitor(context, block_at(heap, chunk + TAG_SIZE), size_in(tag) - TAGS_SIZE,
                (tag & TAG_USED) != 0);
        chunk += size_in(tag);
    }
    if (left > TAGS_SIZE) {
        visitor(context, block_at(heap, brk), left - TAGS_SIZE, false);
    }
}

/* How many free chunks, and the sum of their offsets, which tells whether two sets of so many are
 * the same ones. */
typedef struct chunk_set {
    uint32_t count;
    uint32_t sum;
} chunk_set;

static bool add_bin(const hfit_heap *heap, uint32_t bin, uint32_t most, chunk_set *set) {
    const uint32_t brk = load_word(heap, LOW_BREAK);
    uint32_t chunk = load_word(heap, head_of(bin));
    for (; chunk != NO_OFFSET; chunk = load_word(heap, chunk + NEXT_FREE)) {
        if (chunk >= brk - CHUNK_LEAST || chunk % TAG_SIZE != 0 || set->count == most) {
            return false;
        }
        const uint32_t size = load_word(heap, chunk);
        if (size < CHUNK_LEAST || (size & TAG_USED) != 0 || bin_of(size) != bin ||
            (keeps_bin() && load_word(heap, chunk + KEPT_BIN) != bin)) {
            return false;
        }
        set->count++;
        set->sum += chunk;
    }
    return true;
}

/* True if the slop and the bins hold the free chunks told, and no others. */
static bool are_lists_sound(const hfit_heap *heap, chunk_set tagged) {
    const uint32_t slop = load_word(heap, SLOP);
    chunk_set listed = {slop != NO_OFFSET, slop};
    for (uint32_t bin = 0; bin < BIN_COUNT; bin++) {
        if (!add_bin(heap, bin, tagged.count, &listed)) {
            return false;
        }
    }
    return listed.count == tagged.count && listed.sum == tagged.sum && is_own_control_sound(heap);
}

static bool is_chunk_sound(const hfit_heap *heap, const hfit_plan *plan, uint32_t chunk,
                           uint32_t room) {
    const uint32_t tag = load_word(heap, chunk);
    const uint32_t size = size_in(tag);
    const uint32_t previous = load_word(heap, chunk - TAG_SIZE);
    return size >= CHUNK_LEAST && size <= room && (size & (plan->alignment - 1)) == 0 &&
           load_word(heap, chunk + size - TAG_SIZE) == tag && ((tag | previous) & TAG_USED) != 0;
}

static bool heap_check(const hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t first = first_chunk(plan);
    const uint32_t last_tag = load_word(heap, LOW_BREAK) - TAG_SIZE;
    uint32_t chunk = first;
    chunk_set tagged = {0, 0};
    if (!is_low_level_sound(heap, first + TAG_SIZE) ||
        load_word(heap, first - TAG_SIZE) != TAG_USED || load_word(heap, last_tag) != TAG_USED) {
        return false;
    }
    while (chunk < last_tag) {
        if (!is_chunk_sound(heap, plan, chunk, last_tag - chunk)) {
            return false;
        }
        const uint32_t tag = load_word(heap, chunk);
        if ((tag & TAG_USED) == 0) {
            tagged.count++;
            tagged.sum += chunk;
        }
        chunk += size_in(tag);
    }
    return are_lists_sound(heap, tagged);
}

static size_t heap_footprint(const hfit_heap *heap, const hfit_plan *plan) {
    (void)plan;
    return load_word(heap, LOW_FOOTPRINT);
}

static size_t heap_smallest_region(const hfit_plan *plan) {
    if (!is_alignment_allowed(plan->alignment) || step_of(plan) > LOW_MOST_STEP) {
        return 0;
    }
    return first_chunk(plan) + TAG_SIZE;
}

static hfit_heap *heap_init(void *region, size_t region_size, const hfit_plan *plan) {
    if (!is_region_usable(region, region_size, plan) || heap_smallest_region(plan) == 0 ||
        region_size < heap_smallest_region(plan)) {
        return NULL;
    }
    hfit_heap *heap = region;
    const uint32_t first = first_chunk(plan);
    const uint32_t room = (uint32_t)region_size - (first + TAG_SIZE);
    for (uint32_t offset = SLOP; offset < control_size(); offset += 4) {
        store_word(heap, offset, 0);
    }
    store_word(heap, first - TAG_SIZE, TAG_USED);
    store_word(heap, first, TAG_USED);
    low_level_start(heap, first + TAG_SIZE, first + TAG_SIZE + (room & ~(plan->alignment - 1)));
    return heap;
}

#endif
