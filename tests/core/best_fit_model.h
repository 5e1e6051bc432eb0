/* SPDX-License-Identifier: Apache-2.0 */
/* The obvious model of best fit: all chunks in order of address, the last one being the top, and a
 * search of them all for each request. */
#ifndef BEST_FIT_MODEL_H
#define BEST_FIT_MODEL_H

#include "chunk_list.h"

enum { HEADER = 4, SMALLEST = 16, BIN_LIMIT = 16 };

typedef struct model {
    chunk_list list;
    uint32_t alignment;
} model;

static void model_start(model *m, uint32_t alignment, uint32_t first, uint32_t end) {
    list_start(&m->list, first, end);
    m->alignment = alignment;
}

static uint32_t chunk_for(const model *m, uint32_t size) {
    const uint32_t needed =
        ((size == 0 ? 1 : size) + HEADER + m->alignment - 1) & ~(m->alignment - 1);
    return needed < SMALLEST ? (uint32_t)SMALLEST : needed;
}

static void use(model *m, size_t i, uint32_t needed) {
    m->list.chunks[i].is_used = true;
    if (m->list.chunks[i].size - needed >= SMALLEST) {
        cut(&m->list, i, needed);
    }
}

static void release(model *m, size_t i) {
    if (i + 1 < m->list.count && !m->list.chunks[i + 1].is_used) {
        join_with_next(&m->list, i);
    }
    if (i > 0 && !m->list.chunks[i - 1].is_used) {
        join_with_next(&m->list, --i);
    }
    m->list.chunks[i].is_used = false;
    m->list.chunks[i].freed = ++m->list.now;
}

/* Small chunks of one size go out the last freed first, others the first freed first. */
static bool is_better(const model *m, const chunk *a, const chunk *b) {
    if (a->size != b->size) {
        return a->size < b->size;
    }
    return a->size < BIN_LIMIT * m->alignment ? a->freed > b->freed : a->freed < b->freed;
}

/* The chunk that a request must get, the top only if there is no other; m->list.count if there is
 * none.
 */
static size_t best_for(const model *m, uint32_t needed) {
    size_t best = m->list.count;
    for (size_t i = 0; i < m->list.count; i++) {
        const chunk *c = &m->list.chunks[i];
        const bool is_top = i == m->list.count - 1;
        if (!c->is_used && c->size >= needed &&
            (best == m->list.count || (!is_top && is_better(m, c, &m->list.chunks[best])))) {
            best = i;
        }
    }
    return best;
}

static uint32_t model_alloc(model *m, uint32_t size) {
    const uint32_t needed = chunk_for(m, size);
    const size_t i = best_for(m, needed);
    if (i == m->list.count) {
        return 0;
    }
    use(m, i, needed);
    return m->list.chunks[i].start;
}

/* Bytes to the first start behind which an aligned payload lies: none, or enough for a chunk. */
static uint32_t gap_at(uint32_t start, uint32_t alignment) {
    uint32_t gap = (0u - (start + HEADER)) & (alignment - 1);
    while (gap != 0 && gap < SMALLEST) {
        gap += alignment;
    }
    return gap;
}

/* The best chunk with room for any gap; failing that the top, if it has room for its own. */
static uint32_t model_alloc_aligned(model *m, uint32_t alignment, uint32_t size) {
    const uint32_t needed = chunk_for(m, size);
    size_t i = best_for(m, needed + alignment + SMALLEST);
    if (i == m->list.count) {
        const chunk *top = &m->list.chunks[--i];
        if (top->is_used || gap_at(top->start, alignment) + needed > top->size) {
            return 0;
        }
    }
    const uint32_t gap = gap_at(m->list.chunks[i].start, alignment);
    if (gap != 0) {
        m->list.chunks[i].freed = ++m->list.now;
        cut(&m->list, i++, gap);
    }
    use(m, i, needed);
    return m->list.chunks[i].start;
}

static void model_free(model *m, uint32_t start) {
    release(m, index_of(&m->list, start));
}

static uint32_t model_resize(model *m, uint32_t start, uint32_t size) {
    const uint32_t needed = chunk_for(m, size);
    const size_t i = index_of(&m->list, start);
    const uint32_t had = m->list.chunks[i].size;
    const bool can_join = i + 1 < m->list.count && !m->list.chunks[i + 1].is_used;
    if (needed <= had) {
        if (had - needed >= SMALLEST) {
            cut(&m->list, i, needed);
            release(m, i + 1);
        }
        return start;
    }
    if (can_join && had + m->list.chunks[i + 1].size >= needed) {
        join_with_next(&m->list, i);
        use(m, i, needed);
        return start;
    }
    const uint32_t moved = model_alloc(m, size);
    if (moved != 0) {
        model_free(m, start);
    }
    return moved;
}

#endif
