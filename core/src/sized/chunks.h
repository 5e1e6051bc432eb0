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

/* Adds a free chunk to the tree by size, if it is large enough. */
static inline void list_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                              uint32_t size) {
    if (!is_small(plan, size)) {
        size_insert(heap, plan, start, size, is_above_top(heap, plan, start));
    }
}

/* Adds a free chunk, which has `least_chunk` granules at least. */
static void insert_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t end) {
    HFIT_ASSERT(end - start >= least_chunk(plan));
    address_insert(heap, plan, start, end - start);
    list_chunk(heap, plan, start, end - start);
}

/* Takes a free chunk out of the tree by size, if it is in there. */
static inline void unlist_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                uint32_t size) {
    if (size >= full_chunk(plan)) {
        size_remove(heap, plan, start, size, is_above_top(heap, plan, start));
    }
}

/* Takes a chunk that is in no tree by size out of that by address. False if words were overwritten
 * and it is not in there. */
static bool remove_unlisted(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t size) {
    const uint32_t slot = address_slot(heap, plan, addresses_root(plan, size), start);
    if (HFIT_SAFETY >= 1 && raw_link(heap, slot) != start) {
        return false;
    }
    address_remove(heap, plan, slot, size);
    return true;
}

static void remove_chunk(hfit_heap *heap, const hfit_plan *plan, uint32_t start) {
    const uint32_t size = size_at(heap, offset_at(plan, start));
    unlist_chunk(heap, plan, start, size);
    (void)remove_unlisted(heap, plan, start, size);
}

/* Gives a free chunk that is in no tree by size another one, where it stays. */
static void resize_unlisted(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t was,
                            uint32_t size) {
    if (is_small(plan, was) || is_small(plan, size)) {
        (void)remove_unlisted(heap, plan, start, was);
        address_insert(heap, plan, start, size);
    } else {
        address_set_size(heap, plan, start, size);
    }
    list_chunk(heap, plan, start, size);
}

/* Makes a free chunk end elsewhere. */
static void move_end(hfit_heap *heap, const hfit_plan *plan, uint32_t start, uint32_t end) {
    const uint32_t size = size_at(heap, offset_at(plan, start));
    unlist_chunk(heap, plan, start, size);
    resize_unlisted(heap, plan, start, size, end - start);
}

/* What holds the granules: the free chunks around, or the top. NOWHERE where there is no chunk. */
typedef struct neighbours {
    uint32_t before;
    address_place after; /* until the tree changes */
    bool is_top_before;
    bool is_top_after;
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
static INLINE_FOR_SPEED bool look_around(const hfit_heap *heap, const hfit_plan *plan, place *at,
                                         neighbours *found) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t behind_top = top_end(heap, plan);
    found->before = NOWHERE;
    found->after.chunk = NOWHERE;
    found->is_top_before = at->start == behind_top;
    found->is_top_after = at->end == top;
    at->from = found->is_top_before ? top : at->start;
    at->to = found->is_top_after ? behind_top : at->end;
    uint32_t before = last_before(heap, plan, ADDRESSES, at->end, &found->after);
    if (has_least_tree(plan)) {
        const uint32_t least = last_before(heap, plan, LEAST_ADDRESSES, at->end, &found->after);
        before = least > before ? least : before;
    }
    if (found->after.chunk != NOWHERE) {
        at->to = chunk_end(heap, plan, found->after.chunk);
    }
    const uint32_t before_end = before != NOWHERE ? chunk_end(heap, plan, before) : 0;
    if (before >= at->start || before_end > at->start ||
        (at->start < behind_top && at->end > top)) {
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
    if (top >= limit && top != top_end(heap, plan) && (chunk == NOWHERE || top < chunk)) {
        return (place){top, top_end(heap, plan), top, top};
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
    const uint32_t after = found->after.chunk;
    if (after != NOWHERE) {
        const uint32_t size = size_at(heap, offset_at(plan, after));
        unlist_chunk(heap, plan, after, size);
        address_remove(heap, plan, found->after.slot, size);
    }
}

/* Makes the top what is free from `from` to `to`. */
static FORCE_INLINE void set_top(hfit_heap *heap, const hfit_plan *plan, uint32_t from,
                                 uint32_t to) {
    store_word(heap, TOP, from);
    if (has_two_ends(plan)) {
        store_word(heap, TOP_END, to);
    }
}

/* Makes the place and what is free around it one free chunk, or part of the top. */
static INLINE_FOR_SPEED void release(hfit_heap *heap, const hfit_plan *plan, const place *at,
                                     neighbours *found) {
    count_free(heap, at->end - at->start);
    remove_after(heap, plan, found);
    if (found->is_top_after || found->is_top_before) {
        if (found->before != NOWHERE) {
            remove_chunk(heap, plan, found->before);
        }
        set_top(heap, plan, at->from, at->to);
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
    uint32_t slot; /* that leads to it in the tree by size, of a small one in that by address; of a
                      listed one nothing */
} found_chunk;

/* A small chunk of so many granules, as far from the top as there is one on that side. */
static inline found_chunk find_small_chunk(const hfit_heap *heap, const hfit_plan *plan,
                                           uint32_t size, bool above) {
    const uint32_t slot = small_slot(heap, plan, addresses_root(plan, size), above);
    const uint32_t start = slot != NO_SLOT ? raw_link(heap, slot) : (uint32_t)NOWHERE;
    const bool is_there = start != NOWHERE && is_above_top(heap, plan, start) == above;
    return (found_chunk){is_there ? start : (uint32_t)NOWHERE, size, slot};
}

/* The smallest free chunk of `size` granules or more, on one side of the top, of which nothing is
 * left that would be too small. */
static INLINE_FOR_SPEED found_chunk find_chunk(const hfit_heap *heap, const hfit_plan *plan,
                                               uint32_t size, bool above) {
    found_chunk found = {NOWHERE, 0, NO_SLOT};
    if (is_small(plan, size)) {
        found = find_small_chunk(heap, plan, size, above);
    }
    if (found.start == NOWHERE) {
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
static INLINE_FOR_SPEED uint32_t cut_chunk(hfit_heap *heap, const hfit_plan *plan,
                                           found_chunk chunk, uint32_t size) {
    const uint32_t rest = chunk.size - size;
    if (is_small(plan, chunk.size)) {
        address_remove(heap, plan, chunk.slot, size);
        return chunk.start;
    }
    if (is_listed(heap, plan, chunk.start)) {
        remove_listed(heap, plan, chunk.start);
    } else {
        remove_entry(heap, plan, chunk.start, chunk.slot);
    }
    if (rest != 0) {
        resize_unlisted(heap, plan, chunk.start, chunk.size, rest);
        return chunk.start + rest;
    }
    return remove_unlisted(heap, plan, chunk.start, size) ? chunk.start : (uint32_t)NOWHERE;
}

/* Takes `size` granules from the top, from its end if `high`. NOWHERE if it has not so many. */
static inline uint32_t cut_top(hfit_heap *heap, const hfit_plan *plan, uint32_t size, bool high) {
    const uint32_t top = load_word(heap, TOP);
    const uint32_t behind_top = top_end(heap, plan);
    if (behind_top - top < size) {
        return NOWHERE;
    }
    if (high) {
        store_word(heap, TOP_END, behind_top - size);
        return behind_top - size;
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
static INLINE_FOR_SPEED uint32_t find_and_cut(hfit_heap *heap, const hfit_plan *plan, uint32_t size,
                                              bool high) {
    found_chunk chunk = find_chunk(heap, plan, size, high);
    if (chunk.start == NOWHERE || is_too_large(plan, chunk.size, size)) {
        const uint32_t start = cut_top(heap, plan, size, high);
        if (start != NOWHERE) {
            return start;
        }
    }
    if (chunk.start == NOWHERE && has_two_ends(plan)) {
        chunk = find_chunk(heap, plan, size, !high);
    }
    return chunk.start != NOWHERE ? cut_chunk(heap, plan, chunk, size) : NOWHERE;
}

static uint32_t take(hfit_heap *heap, const hfit_plan *plan, uint32_t size, bool high) {
    const uint32_t start = find_and_cut(heap, plan, size, high);
    if (start != NOWHERE) {
        count_free(heap, 0 - size);
    }
    return start;
}

#endif
