/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chunks of `tailored` between bounds, index and top: taking a free one, using it, giving it back.
 *
 *   first                                              top            top end = end
 *   +--------+--------+----------+--------+ ... +------+--------------+
 *   | chunk  | chunk  | chunk    | chunk  |     | used | free, in no  |
 *   |        |        |          |        |     |      | class        |
 *   +--------+--------+----------+--------+ ... +------+--------------+
 *
 * The top is what nobody has used last: the free chunk at which `top` points. Where it is used up,
 * `top` tells where it was, and the next free chunk that touches the place is the top again.
 */
#ifndef HFIT_TAILORED_CHUNKS_H
#define HFIT_TAILORED_CHUNKS_H

#include "hfit/compiler.h"

#include "src/size.h"
#include "src/region.h"
#include "src/tiling/trie.h"
#include "src/tailored/heap.h"
#include "src/tailored/bounds.h"
#include "src/tailored/index.h"

static inline void add_to_tally(hfit_heap *heap, uint32_t added) {
    if (CHECKS_WORDS) {
        store_word(heap, TALLY, load_word(heap, TALLY) + added);
    }
}

/* The granules of a chunk for `size` bytes; 0 if no region could hold it. */
static FORCE_INLINE uint32_t granules_for(const hfit_plan *plan, size_t size) {
    uint32_t rounded;
    if (!round_sum(size, header_size(plan), plan->alignment, &rounded)) {
        return 0;
    }
    const uint32_t granules = rounded >> granule_shift(plan);
    return granules < least_chunk(plan) ? least_chunk(plan) : granules;
}

/* Takes a free chunk out of the index; the top is in none. */
static FORCE_INLINE void take_out(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                  uint32_t end) {
    if (!is_top(heap, start)) {
        index_remove(heap, plan, entry_of(plan, start), end - start);
    }
}

/* Notes that the top became smaller. */
static FORCE_INLINE void raise_footprint(hfit_heap *heap, const hfit_plan *plan) {
    const uint32_t before = load_word(heap, FOOTPRINT);
    const uint32_t top_size = load_word(heap, TOP_END) - load_word(heap, TOP);
    const uint32_t reached = chunks_end(heap) - (top_size << granule_shift(plan));
    if (reached > before) {
        store_word(heap, FOOTPRINT, reached);
        add_to_tally(heap, reached - before);
    }
}

/* Puts free granules where they belong: to the top, if the chunk from `from` on that they are the
 * last of holds or touches it, or else into the index. None may be left, of what was the top. */
static CALL_FOR_SIZE void put_back(hfit_heap *heap, const hfit_plan *plan, uint32_t from,
                                   uint32_t start, uint32_t end) {
    HFIT_ASSERT(from <= start && start <= end);
    if (load_word(heap, TOP_END) <= end && from <= load_word(heap, TOP)) {
        store_word(heap, TOP, start);
        store_word(heap, TOP_END, end);
        raise_footprint(heap, plan);
    } else if (start != end) {
        index_insert(heap, plan, start, end - start);
    }
}

/* Makes the first `size` granules of a free chunk that is out of the index a used chunk; what is
 * left is free again if it can be a chunk. Returns where the used one ends. */
static INLINE_FOR_SPEED uint32_t use(hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                     uint32_t end, uint32_t size) {
    HFIT_ASSERT(start < end && size <= end - start && size >= least_chunk(plan));
    const uint32_t left = end - start - size;
    const uint32_t behind = end - (left < least_chunk(plan) ? 0 : left);
    bounds_use(heap, plan, start, behind, end);
    put_back(heap, plan, start, behind, end);
    add_to_tally(heap, 1);
    return behind;
}

/* Cuts `size` granules from the end of the top. */
static uint32_t use_high(hfit_heap *heap, const hfit_plan *plan, uint32_t top, uint32_t end,
                         uint32_t size) {
    HFIT_ASSERT(top < end && size <= end - top);
    const uint32_t start = end - size;
    if (start - top < least_chunk(plan)) {
        (void)use(heap, plan, top, end, size); /* all of it */
        return top;
    }
    bounds_use_last(heap, plan, top, start, end);
    store_word(heap, TOP_END, start);
    raise_footprint(heap, plan);
    add_to_tally(heap, 1);
    return start;
}

/* Takes the free neighbours of a used chunk out of the index. */
static FORCE_INLINE void take_out_neighbours(hfit_heap *heap, const hfit_plan *plan,
                                             const place *at) {
    HFIT_ASSERT(is_place(at));
    if (at->to != at->end) {
        take_out(heap, plan, at->end, at->to);
    }
    if (at->from != at->start) {
        take_out(heap, plan, at->from, at->start);
    }
}

/* Makes a used chunk free and joins it with its free neighbours. */
static INLINE_FOR_SPEED void release(hfit_heap *heap, const hfit_plan *plan, const place *at) {
    take_out_neighbours(heap, plan, at);
    bounds_free(heap, plan, at);
    put_back(heap, plan, at->from, at->from, at->to);
    add_to_tally(heap, 0u - 1);
}

/* True if what was found may be taken; if not, that is told. */
static FORCE_INLINE bool is_takeable(const hfit_heap *heap, const hfit_plan *plan,
                                     const sized_chunk *found, uint32_t size) {
    const uint32_t granule = granule_of(plan, found->offset);
    if (may_be_entry(heap, plan, found->offset) && found->size >= size &&
        is_free_within(heap, plan, granule, found->size) &&
        index_holds(heap, plan, granule, found->size)) {
        return true;
    }
    HFIT_ON_MISUSE(heap, HFIT_MISUSE_DAMAGED, heap);
    return false;
}

/* True if the plan would rather cut the top than this chunk. */
static FORCE_INLINE bool is_too_large(const hfit_plan *plan, uint32_t chunk, uint32_t size) {
    const uint32_t limit = own_plan(plan)->hole_limit;
    return limit != 0 && (chunk - 1) / limit >= size;
}

/* Takes a free chunk of at least `size` granules out of the index: of its own side of the top, else
 * the top, else one of its own side that is too large, else of the other side. False if there is
 * none. */
static INLINE_FOR_SPEED bool take(hfit_heap *heap, const hfit_plan *plan, uint32_t size, bool high,
                                  place *at) {
    if (size > chunks_end(heap) >> granule_shift(plan)) {
        return false; /* its class has no word */
    }
    sized_chunk found;
    for (bool above = high;; above = !high) {
        const sized_chunk last = index_find(heap, plan, size, above);
        found.offset = last.offset; /* word by word: a copy of a struct may call memcpy */
        found.size = last.size;
        const bool is_found = found.offset != NO_OFFSET;
        if (HFIT_LIKELY(is_found && !(above == high && is_too_large(plan, found.size, size)))) {
            break;
        }
        at->start = load_word(heap, TOP);
        at->end = load_word(heap, TOP_END);
        if (above == high && at->end - at->start >= size) {
            return true;
        }
        if (is_found) {
            break;
        }
        if (above != high || !has_two_ends(plan)) {
            return false;
        }
    }
    if (CHECKS_WORDS && !is_takeable(heap, plan, &found, size)) {
        return false;
    }
    at->start = granule_of(plan, found.offset);
    at->end = at->start + found.size;
    index_remove(heap, plan, found.offset, found.size);
    return true;
}

static FORCE_INLINE bool is_in_place(const hfit_heap *heap, const hfit_plan *plan, uint32_t start,
                                     uint32_t end) {
    return start == end || is_top(heap, start) || index_holds(heap, plan, start, end - start);
}

/* As find_used, with the free neighbours, whose words are checked. */
static INLINE_FOR_SPEED bool find_place(const hfit_heap *heap, const hfit_plan *plan,
                                        const void *block, place *at) {
    if (!find_used(heap, plan, block, at)) {
        return false;
    }
    return (look_around(heap, plan, at) &&
            (!CHECKS_WORDS || (is_in_place(heap, plan, at->end, at->to) &&
                               is_in_place(heap, plan, at->from, at->start)))) ||
           refuse(heap, HFIT_MISUSE_DAMAGED, block);
}

#endif
