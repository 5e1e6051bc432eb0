/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The obvious model of best fit and of a tailored heap: all chunks in order of address, in bytes
 * from the region's start, and a search of them all for each request. It is told the places that a
 * heap's random steps must have.
 */
#ifndef BEST_FIT_MODEL_H
#define BEST_FIT_MODEL_H

#include "hfit/tailored.h"

#include "check.h"
#include "random_number.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* What the heap under test is made by. */
static hfit_tailored_plan settings = {.common = {8}, .ends = 1};
static bool is_plain; /* best_fit: longer lists, and a resize that moves nothing down */

static _Alignas(4096) unsigned char region[24 << 20];

/* ---- The model ---- */

enum { MOST_CHUNKS = 4096 };

typedef struct chunk {
    uint32_t start;
    uint32_t size;
    bool is_used;
    uint64_t freed; /* when it became a free chunk of this size */
} chunk;

typedef struct chunk_list {
    chunk chunks[MOST_CHUNKS];
    size_t count;
    uint64_t now;
} chunk_list;

/* One free chunk. */
static void list_start(chunk_list *l, uint32_t first, uint32_t end) {
    l->chunks[0] = (chunk){first, end - first, false, 0};
    l->count = 1;
    l->now = 0;
}

static size_t index_of(const chunk_list *l, uint32_t start) {
    size_t i = 0;
    while (l->chunks[i].start != start) {
        i++;
        CHECK(i < l->count);
    }
    return i;
}

/* Cuts chunk `i` at `size`; what is behind becomes a free chunk of its own. */
static void cut(chunk_list *l, size_t i, uint32_t size) {
    CHECK(l->count < MOST_CHUNKS);
    memmove(&l->chunks[i + 1], &l->chunks[i], (l->count - i) * sizeof(chunk));
    l->count++;
    l->chunks[i].size = size;
    l->chunks[i + 1].start += size;
    l->chunks[i + 1].size -= size;
    l->chunks[i + 1].is_used = false;
    l->chunks[i + 1].freed = ++l->now;
}

static void join_with_next(chunk_list *l, size_t i) {
    l->chunks[i].size += l->chunks[i + 1].size;
    memmove(&l->chunks[i + 1], &l->chunks[i + 2], (l->count - i - 2) * sizeof(chunk));
    l->count--;
}

typedef struct model {
    chunk_list list;
    uint32_t top; /* the free chunk that is the top, or where the last one was: then equal */
    uint32_t top_end;
} model;

static void model_start(model *m, uint32_t first, uint32_t end) {
    list_start(&m->list, first, end);
    m->top = first;
    m->top_end = end;
}

static uint32_t least_bytes(void) {
    if (settings.layout == HFIT_TAILORED_HEADERS) {
        return 16;
    }
    return settings.layout == HFIT_TAILORED_PAIRS ? settings.common.alignment
                                                  : 2 * settings.common.alignment;
}

static uint32_t chunk_bytes(uint32_t size) {
    const uint32_t alignment = settings.common.alignment;
    const uint32_t header = settings.layout == HFIT_TAILORED_HEADERS ? 4 : 0;
    const uint32_t needed = (size + header + alignment - 1) & ~(alignment - 1);
    return needed < least_bytes() ? least_bytes() : needed;
}

static bool is_free_at(const model *m, size_t i) {
    return i < m->list.count && !m->list.chunks[i].is_used;
}

/* True if the top lies in a chunk, or its place at one of the chunk's ends. */
static bool has_top(const model *m, size_t i) {
    return m->list.chunks[i].start <= m->top &&
           m->top_end <= m->list.chunks[i].start + m->list.chunks[i].size;
}

static void use_at(model *m, size_t i, uint32_t needed) {
    const bool had_top = has_top(m, i);
    const uint32_t end = m->list.chunks[i].start + m->list.chunks[i].size;
    m->list.chunks[i].is_used = true;
    if (m->list.chunks[i].size - needed >= least_bytes()) {
        cut(&m->list, i, needed);
    }
    if (had_top) {
        m->top = m->list.chunks[i].start + m->list.chunks[i].size;
        m->top_end = end;
    }
}

/* Uses the last bytes of the top, which is chunk `i`. */
static size_t use_last_of(model *m, size_t i, uint32_t needed) {
    const uint32_t left = m->list.chunks[i].size - needed;
    if (left < least_bytes()) {
        use_at(m, i, needed);
        return i;
    }
    cut(&m->list, i, left);
    m->list.chunks[i + 1].is_used = true;
    m->top_end -= needed;
    return i + 1;
}

static void release_at(model *m, size_t i) {
    if (is_free_at(m, i + 1)) {
        join_with_next(&m->list, i);
    }
    if (i > 0 && is_free_at(m, i - 1)) {
        join_with_next(&m->list, --i);
    }
    m->list.chunks[i].is_used = false;
    m->list.chunks[i].freed = ++m->list.now;
    if (has_top(m, i)) {
        m->top = m->list.chunks[i].start;
        m->top_end = m->top + m->list.chunks[i].size;
    }
}

/* Small chunks of one size go out the last freed first, others the first freed first. */
static bool is_better(const chunk *a, const chunk *b) {
    if (a->size != b->size) {
        return a->size < b->size;
    }
    return a->size < (is_plain ? 16 : 8) * settings.common.alignment ? a->freed > b->freed
                                                                     : a->freed < b->freed;
}

/* The number of a chunk's class, found by counting up one by one. */
static uint32_t class_in_model(uint32_t size) {
    const uint32_t granules = size / settings.common.alignment;
    uint32_t class = 0;
    for (uint32_t least = 1; least <= granules; class ++) {
        uint32_t step = 1;
        while (step * 8 <= least) {
            step *= 2;
        }
        least += least < 16 ? 1 : step;
    }
    return class;
}

/* True if a chunk is in the index and beside the top as told. */
static bool is_beside_top(const model *m, size_t i, bool above) {
    const chunk *c = &m->list.chunks[i];
    return !c->is_used && c->start != m->top && (c->start > m->top) == above;
}

/* The chunk of a class below `limit` that was freed last, or m->list.count. */
static size_t freed_last(const model *m, uint32_t class, bool above, uint64_t limit) {
    size_t last = m->list.count;
    for (size_t i = 0; i < m->list.count; i++) {
        const chunk *c = &m->list.chunks[i];
        if (is_beside_top(m, i, above) && class_in_model(c->size) == class && c->freed < limit &&
            (last == m->list.count || c->freed > m->list.chunks[last].freed)) {
            last = i;
        }
    }
    return last;
}

/* Good fit: of its own class the first that will do of the last few freed, else of the next class
 * that has a chunk the last one freed. */
static size_t good_beside_top(const model *m, uint32_t needed, bool above) {
    const uint32_t class = class_in_model(needed);
    uint64_t limit = UINT64_MAX;
    uint32_t next = UINT32_MAX;
    for (int i = 0; i < 2; i++) {
        const size_t own = freed_last(m, class, above, limit);
        if (own == m->list.count || m->list.chunks[own].size >= needed) {
            if (own != m->list.count) {
                return own;
            }
            break;
        }
        limit = m->list.chunks[own].freed;
    }
    for (size_t i = 0; i < m->list.count; i++) {
        const uint32_t larger = class_in_model(m->list.chunks[i].size);
        next = is_beside_top(m, i, above) && larger > class && larger < next ? larger : next;
    }
    return freed_last(m, next, above, UINT64_MAX);
}

/* Best fit: the best chunk below the top or above it, m->list.count if there is none. */
static size_t best_beside_top(const model *m, uint32_t needed, bool above) {
    size_t best = m->list.count;
    if (settings.index == HFIT_TAILORED_GOOD_FIT) {
        return good_beside_top(m, needed, above);
    }
    for (size_t i = 0; i < m->list.count; i++) {
        const chunk *c = &m->list.chunks[i];
        if (is_beside_top(m, i, above) && c->size >= needed &&
            (best == m->list.count || is_better(c, &m->list.chunks[best]))) {
            best = i;
        }
    }
    return best;
}

/* True if the plan leaves the chunk alone while the top serves. */
static bool is_left_alone(const chunk *c, uint32_t needed) {
    return settings.hole_limit != 0 && c->size > (uint64_t)needed * settings.hole_limit;
}

/* The chunk that a request must get: of its side, else the top, else one of its side that is left
 * alone otherwise, else of the other side; m->list.count if there is none. */
static size_t best_for(const model *m, uint32_t needed, bool high) {
    const size_t best = best_beside_top(m, needed, high);
    const bool is_passed = best == m->list.count || is_left_alone(&m->list.chunks[best], needed);
    if (is_passed && m->top_end - m->top >= needed) {
        return index_of(&m->list, m->top);
    }
    return best == m->list.count ? best_beside_top(m, needed, !high) : best;
}

/* True if the plan says that chunks of this size, asked for with this tag, are cut from the top's
 * end. */
static bool is_high_in_model(uint32_t needed, uint32_t tag) {
    const uint64_t by_class = (uint64_t)settings.high_1 << 32 | settings.high_0;
    const uint32_t class = class_in_model(needed);
    const bool is_known = tag >= 1 && tag <= settings.tags;
    const uint64_t high =
        is_known ? settings.tag_high >> tag : by_class >> (class < 64 ? class : 63);
    return settings.ends == 2 && (high & 1) != 0;
}

static uint32_t model_alloc(model *m, uint32_t size, uint32_t tag) {
    const uint32_t needed = chunk_bytes(size);
    const bool high = is_high_in_model(needed, tag);
    size_t i = best_for(m, needed, high);
    if (i == m->list.count) {
        return 0;
    }
    if (high && m->list.chunks[i].start == m->top) {
        i = use_last_of(m, i, needed);
    } else {
        use_at(m, i, needed);
    }
    return m->list.chunks[i].start;
}

/* Bytes to the first aligned address: none, or enough for a chunk. */
static uint32_t gap_at(uint32_t start, uint32_t alignment) {
    uint32_t gap = (0u - start) & (alignment - 1);
    while (gap != 0 && gap < least_bytes()) {
        gap += alignment;
    }
    return gap;
}

/* The best chunk with room for any gap; failing that the top, if it has room for its own. */
static uint32_t model_alloc_aligned(model *m, uint32_t alignment, uint32_t size) {
    const uint32_t needed = chunk_bytes(size);
    size_t i =
        best_for(m, needed + alignment + least_bytes() - (is_plain ? 0 : settings.common.alignment),
                 is_high_in_model(needed, 0));
    if (i == m->list.count) {
        if (gap_at(m->top, alignment) + needed > m->top_end - m->top) {
            return 0;
        }
        i = index_of(&m->list, m->top);
    }
    const uint32_t gap = gap_at(m->list.chunks[i].start, alignment);
    if (gap != 0) {
        m->list.chunks[i].freed = ++m->list.now;
        m->top += m->list.chunks[i].start == m->top ? gap : 0;
        cut(&m->list, i++, gap);
    }
    use_at(m, i, needed);
    return m->list.chunks[i].start;
}

static void model_free(model *m, uint32_t start) {
    release_at(m, index_of(&m->list, start));
}

/* Joins chunk `i` with its free neighbours, of those before it only if told so; returns the bytes
 * that this gives or would give. */
static uint32_t room_around(const model *m, size_t i, bool before) {
    return m->list.chunks[i].size + (is_free_at(m, i + 1) ? m->list.chunks[i + 1].size : 0) +
           (before && i > 0 && is_free_at(m, i - 1) ? m->list.chunks[i - 1].size : 0);
}

static void shrink_at(model *m, size_t i, uint32_t needed) {
    const uint32_t left = m->list.chunks[i].size - needed;
    if (left >= least_bytes() || (left != 0 && !is_plain && is_free_at(m, i + 1))) {
        cut(&m->list, i, needed);
        release_at(m, i + 1);
    }
}

static uint32_t model_resize(model *m, uint32_t start, uint32_t size) {
    const uint32_t needed = chunk_bytes(size);
    size_t i = index_of(&m->list, start);
    if (needed <= m->list.chunks[i].size) {
        shrink_at(m, i, needed);
        return start;
    }
    const bool grows = needed <= room_around(m, i, false);
    const uint32_t moved = grows ? 0 : model_alloc(m, size, 0);
    if (moved != 0) {
        model_free(m, start);
        return moved;
    }
    i = index_of(&m->list, start);
    if (needed > room_around(m, i, !is_plain)) {
        return 0;
    }
    if (is_free_at(m, i + 1)) {
        join_with_next(&m->list, i);
    }
    if (!grows && is_free_at(m, i - 1)) {
        join_with_next(&m->list, --i);
    }
    use_at(m, i, needed);
    return m->list.chunks[i].start;
}

/* ---- Random requests that reach all bins and all depths of tries ---- */

/* What a number of steps finds the release builds find: sanitizers see in fewer what only they can.
 */
#ifdef __SANITIZE_ADDRESS__
enum { STEPS_SHARE = 4 };
#else
enum { STEPS_SHARE = 1 };
#endif

/* Small ones, equal ones, and any up to `most`. */
static uint32_t random_size(uint32_t most) {
    switch (random_below(4)) {
    case 0:
        return random_below(200);
    case 1:
        return 100 + 40 * random_below(8);
    case 2:
        return random_below(1500);
    default:
        return random_below(most);
    }
}

typedef struct step {
    uint32_t kind;
    uint32_t alignment;
    uint32_t size;
} step;

static step random_step(uint32_t most) {
    return (step){random_below(8), 16u << random_below(4), random_size(most)};
}

/* ---- A heap beside it ---- */

enum { BLOCKS = 200 };

typedef struct compared {
    const hfit_operations *operations;
    void *(*alloc_at)(hfit_heap *heap, const hfit_plan *plan, size_t size, uint32_t tag);
} compared;

static uint32_t offset_at(const void *block) {
    return block == NULL ? 0 : (uint32_t)((const unsigned char *)block - region);
}

/* The tag that a step's request comes with: none, known to the plan or not. */
static uint32_t tag_of(const compared *c, step s) {
    return s.kind < 2 || c->alloc_at == NULL ? 0 : s.size % 41;
}

/* One step on the heap; where its block lies now, 0 if nowhere. */
static uint32_t do_step(const compared *c, step s, uint32_t start) {
    hfit_heap *heap = (hfit_heap *)(void *)region;
    const hfit_plan *plan = &settings.common;
    if (start == 0) {
        const uint32_t tag = tag_of(c, s);
        return offset_at(s.kind == 0 ? c->operations->alloc_aligned(heap, plan, s.alignment, s.size)
                         : tag == 0  ? c->operations->alloc(heap, plan, s.size)
                                     : c->alloc_at(heap, plan, s.size, tag));
    }
    if (s.kind < 2) {
        const void *moved = c->operations->resize(heap, plan, region + start, s.size);
        return moved == NULL ? start : offset_at(moved);
    }
    c->operations->free(heap, plan, region + start);
    return 0;
}

static uint32_t model_step(model *m, const compared *c, step s, uint32_t start) {
    if (start == 0) {
        return s.kind == 0 && s.alignment > settings.common.alignment
                   ? model_alloc_aligned(m, s.alignment, s.size)
                   : model_alloc(m, s.size, tag_of(c, s));
    }
    if (s.kind < 2) {
        const uint32_t moved = model_resize(m, start, s.size);
        return moved == 0 ? start : moved;
    }
    model_free(m, start);
    return 0;
}

/* In a region whose chunks begin at `first`, where the heap is made. */
static void compare_steps(const compared *c, uint32_t first, uint32_t region_size, uint32_t most,
                          int steps) {
    static model m;
    uint32_t starts[BLOCKS] = {0};
    model_start(&m, first, region_size);
    random_state = settings.common.alignment;
    for (int i = 0; i < steps / STEPS_SHARE; i++) {
        uint32_t *start = &starts[random_below(BLOCKS)];
        const step s = random_step(most);
        const uint32_t expected = model_step(&m, c, s, *start);
        *start = do_step(c, s, *start);
        CHECK(*start == expected);
        CHECK(i % 16 != 0 || c->operations->check((hfit_heap *)(void *)region, &settings.common));
    }
    CHECK(misuse_count == 0);
}

#endif
