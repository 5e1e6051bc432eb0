/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to the free chunks of `sized` when memory is used or freed.
 */
#ifndef HFIT_SIZED_CHUNKS_H
#define HFIT_SIZED_CHUNKS_H

#include "src/size.h"
#include "src/region.h"
#include "src/sized/heap.h"
#include "src/sized/by_address.h"
#include "src/sized/by_size.h"

/* Granules from `start` to `end`, and how far what is free around them reaches. */
typedef struct place {
    uint32_t start;
    uint32_t end;
    uint32_t from;
    uint32_t to;
} place;

/* Adds a free chunk, which has `least_chunk` granules at least. */
static void insert_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t end) {
    const uint32_t size = end - start;
    HFIT_ASSERT(size >= least_chunk(plan));
    address_insert(heap, plan, start, size);
    if (size >= full_chunk(plan)) {
        size_insert(heap, plan, start, size, is_above_top(heap, plan, start));
    }
}

/* Takes a free chunk out of the tree by size, if it is in there. */
static inline void unlist_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                uint32_t size) {
    if (size >= full_chunk(plan)) {
        size_remove(heap, plan, start, size, is_above_top(heap, plan, start));
    }
}

static void remove_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t start) {
    unlist_chunk(heap, plan, start, size_at(heap, offset_at(plan, start)));
    address_remove(heap, plan, start);
}

/* Gives a free chunk that is in no tree by size another one, where it stays. */
static void resize_unlisted(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t size) {
    address_set_size(heap, plan, start, size);
    if (size >= full_chunk(plan)) {
        size_insert(heap, plan, start, size, is_above_top(heap, plan, start));
    }
}

/* Makes a free chunk end elsewhere. */
static void move_end(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t end) {
    unlist_chunk(heap, plan, start, size_at(heap, offset_at(plan, start)));
    resize_unlisted(heap, plan, start, end - start);
}

/* What holds the granules: the free chunks around, or the top. NOWHERE where there is no chunk. */
typedef struct neighbours {
    uint32_t before;
    uint32_t after;
    bool is_top_before;
    bool is_top_after;
    address_path path; /* to the chunk after, until the tree changes */
} neighbours;

static FORCE_INLINE uint32_t chunk_end(const hfit_heap *heap, const hfit_plan *plan,
                                       uint32_t chunk) {
    return chunk + size_at(heap, offset_at(plan, chunk));
}

/* False, from safety level 1 on, if what was found around a place reaches out of the heap: the size
 * of the chunk after was overwritten. */
static FORCE_INLINE bool is_inside(const hfit_heap *heap, const place *at) {
    return HFIT_SAFETY < 1 || at->to <= load_word(heap, END);
}

/* Finds what is free beside the granules from `start` to `end`. False if some of them are free
 * themselves. */
static bool look_around(const hfit_heap *heap, const hfit_plan *plan, place *at,
                        neighbours *found) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t top_end = load_word(heap, TOP_END);
    found->before = NOWHERE;
    found->after = NOWHERE;
    found->is_top_before = at->start == top_end;
    found->is_top_after = at->end == top;
    at->from = found->is_top_before ? top : at->start;
    at->to = found->is_top_after ? top_end : at->end;
    const uint32_t before = last_before(heap, plan, at->end, &found->path);
    if (found->path.length != 0) {
        found->after = at->end;
        at->to = chunk_end(heap, plan, found->after);
    }
    const uint32_t before_end = before != NOWHERE ? chunk_end(heap, plan, before) : 0;
    if (before >= at->start || before_end > at->start || (at->start < top_end && at->end > top)) {
        return false;
    }
    if (before_end == at->start) {
        found->before = before;
        at->from = before;
    }
    return true;
}

/* The free chunk or the top that begins next from `limit` on; the end of all if there is none. */
static place next_free(const hfit_heap *heap, const hfit_plan *plan, uint32_t limit) {
    const uint32_t chunk = first_from(heap, plan, limit);
    const uint32_t top = load_word(heap, TOP);
    const uint32_t end = load_word(heap, END);
    if (top >= limit && top != load_word(heap, TOP_END) && (chunk == NOWHERE || top < chunk)) {
        return (place){top, load_word(heap, TOP_END), top, top};
    }
    return chunk != NOWHERE ? (place){chunk, chunk_end(heap, plan, chunk), chunk, chunk}
                            : (place){end, end, end, end};
}

/* With one end the highest granule ever used tells; with two the whole region is in use. */
static FORCE_INLINE void raise_footprint(hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t end = offset_at(plan, load_word(heap, TOP));
    if (!has_two_ends(plan) && end > load_word(heap, FOOTPRINT)) {
        store_word(heap, FOOTPRINT, end);
    }
}

/* So many granules are now free; modulo 2^32, fewer. */
static FORCE_INLINE void count_free(hfit_heap *heap, uint32_t granules) {
    store_word(heap, FREE, load_word(heap, FREE) + granules);
}

/* Takes the chunk after out, before anything else is done to the tree. */
static void remove_after(hfit_heap *heap, const hfit_plan *plan, neighbours *found) {
    if (found->after != NOWHERE) {
        unlist_chunk(heap, plan, found->after, size_at(heap, offset_at(plan, found->after)));
        address_remove_path(heap, plan, &found->path);
    }
}

/* Makes the place and what is free around it one free chunk, or part of the top. */
static void release(hfit_heap *heap, const hfit_plan *plan, const place *at, neighbours *found) {
    count_free(heap, at->end - at->start);
    remove_after(heap, plan, found);
    if (found->is_top_after || found->is_top_before) {
        if (found->before != NOWHERE) {
            remove_chunk(heap, plan, found->before);
        }
        store_word(heap, TOP, at->from);
        store_word(heap, TOP_END, at->to);
    } else if (found->before != NOWHERE) {
        move_end(heap, plan, found->before, at->to);
    } else {
        insert_chunk(heap, plan, at->from, at->to);
    }
}

/* A free chunk found for a request; NOWHERE if there is none. */
typedef struct found_chunk {
    uint32_t start;
    uint32_t size;
    uint32_t slot; /* that leads to it in the tree by size; of a small or listed one nothing */
} found_chunk;

/* A small chunk on one side of the top, the path left behind for its removal. */
static inline found_chunk find_small_chunk(const hfit_heap *heap, const hfit_plan *plan,
                                           uint32_t size, bool above, address_path *path) {
    const link_range range = chunk_range(heap, plan);
    for (uint32_t larger = size; larger < full_chunk(plan); larger += least_chunk(plan)) {
        HFIT_LOOP_AT_MOST(SMALL_SIZES);
        const uint32_t bit = bit_of_size(plan, larger, above);
        if ((small_at(heap, plan, link_in(heap, ADDRESSES, &range)) & bit) != 0 &&
            find_small(heap, plan, bit, path)) {
            return (found_chunk){path_end(path), larger, 0};
        }
    }
    return (found_chunk){NOWHERE, 0, 0};
}

/* The smallest free chunk of `size` granules or more, on one side of the top, of which nothing is
 * left that would be too small. */
static inline found_chunk find_chunk(const hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                     bool above, address_path *path) {
    found_chunk found = find_small_chunk(heap, plan, size, above, path);
    if (found.start == NOWHERE) {
        path->length = 0;
        size_entry best = size_find(heap, plan, size, above);
        if (best.entry != NOWHERE && !can_be_left(plan, best.size - size)) {
            best = size_find(heap, plan, size + least_chunk(plan), above);
        }
        if (best.entry != NOWHERE) {
            found.start = size_pick(heap, plan, best.entry);
            found.size = best.size;
            found.slot = best.slot;
        }
    }
    if (HFIT_SAFETY >= 1 && found.start + found.size > load_word(heap, END)) {
        found.start = NOWHERE; /* the size was overwritten */
    }
    return found;
}

/* Takes `size` granules from the end of a free chunk; what is left stays where it is. Returns the
 * first; NOWHERE if words were overwritten and the chunk, which then is in no tree any more, was
 * not in that by address. */
static inline uint32_t cut_chunk(hfit_heap *heap, const hfit_plan *plan, found_chunk chunk,
                                 uint32_t size, address_path *path) {
    const uint32_t rest = chunk.size - size;
    if (chunk.size >= full_chunk(plan) && is_listed(heap, plan, chunk.start)) {
        remove_listed(heap, plan, chunk.start);
    } else if (chunk.size >= full_chunk(plan)) {
        remove_entry(heap, plan, chunk.start, chunk.slot);
    }
    if (rest != 0) {
        resize_unlisted(heap, plan, chunk.start, rest);
        return chunk.start + rest;
    }
    if (path->length == 0) {
        find_path(heap, plan, chunk.start, path);
    }
    if (HFIT_SAFETY >= 1 && path->length == 0) {
        return NOWHERE;
    }
    address_remove_path(heap, plan, path);
    return chunk.start;
}

/* Takes `size` granules from the top, from its end if `high`. NOWHERE if it has not so many. */
static inline uint32_t cut_top(hfit_heap *heap, const hfit_plan *plan, uint32_t size, bool high) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t top_end = load_word(heap, TOP_END);
    if (top_end - top < size) {
        return NOWHERE;
    }
    if (high) {
        store_word(heap, TOP_END, top_end - size);
        return top_end - size;
    }
    store_word(heap, TOP, top + size);
    raise_footprint(heap, plan);
    return top;
}

/* True if the plan would rather cut the top than so large a hole. */
static FORCE_INLINE bool is_too_large(const hfit_plan *plan, uint32_t hole, uint32_t size) {
    const uint32_t limit = own_plan(plan)->hole_limit;
    return limit != 0 && hole / limit > size;
}

/* Takes `size` granules: from a free chunk of the right side, from the top, from a free chunk that
 * is too large, from one of the other side, in that order. NOWHERE if there are none. */
static uint32_t find_and_cut(hfit_heap *heap, const hfit_plan *plan, uint32_t size, bool high) {
    address_path path;
    found_chunk chunk = find_chunk(heap, plan, size, high, &path);
    if (chunk.start == NOWHERE || is_too_large(plan, chunk.size, size)) {
        const uint32_t start = cut_top(heap, plan, size, high);
        if (start != NOWHERE) {
            return start;
        }
    }
    if (chunk.start == NOWHERE && has_two_ends(plan)) {
        chunk = find_chunk(heap, plan, size, !high, &path);
    }
    return chunk.start != NOWHERE ? cut_chunk(heap, plan, chunk, size, &path) : NOWHERE;
}

static uint32_t take(hfit_heap *heap, const hfit_plan *plan, uint32_t size, bool high) {
    const uint32_t start = find_and_cut(heap, plan, size, high);
    if (start != NOWHERE) {
        count_free(heap, 0 - size);
    }
    return start;
}

#endif
