/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle of placement: before each request all free chunks are walked, and the block must lie
 * in the one that the allocator's rule names (block_fit and order of its descriptor).
 *
 *   best     the smallest that will do
 *   first    by address: the lowest that will do
 *   good     one of the last two freed of its class, if one will do, else the last freed of the
 * next class that has any; classes are a quarter of a power of two, from 16 granules on
 *
 * What will do is learned: a chunk with as many usable bytes as a block of this request ever had.
 * The top, from which a request is cut if no other chunk will do, is no candidate. Not judged are
 * plans of two ends, which choose on one side of the top; those that keep large holes whole
 * (hole_limit); heaps that grow by a request, whose new chunk no walk has shown; and lea, whose
 * last remainder goes before a best fit.
 */
#ifndef CONTRACT_RULE_ORACLE_H
#define CONTRACT_RULE_ORACLE_H

#include "check.h"
#include "model.h"

#include <string.h>

enum { ORACLE_CHUNKS = MOST_LIVE + 2, ALONE = 16, PROBED = 2 };

typedef enum placement_rule { RULE_NONE, RULE_BEST, RULE_FIRST, RULE_GOOD } placement_rule;

typedef struct oracle_chunk {
    uint16_t start; /* of its block, from the region's start */
    uint16_t size;  /* usable bytes */
    uint16_t freed; /* when it was: larger is later */
} oracle_chunk;

typedef struct rule_oracle {
    placement_rule rule;
    bool has_top;
    size_t least_rest; /* bytes of a chunk that may be left of another; 0: any rest goes along */
    uint16_t least[JUDGED_SIZES]; /* usable bytes that have served a request of so many; 0: none */
    oracle_chunk free[ORACLE_CHUNKS];
    size_t count;
    oracle_chunk before[ORACLE_CHUNKS]; /* the same at the step before */
    size_t count_before;
    size_t overhead; /* bytes of a chunk that are not usable */
    uint16_t clock;  /* steps since the times were last cut */
    bool is_last_free;
    const unsigned char *region;
    size_t last_used; /* where its block starts */
} rule_oracle;

/* The value of a plan's scalar; `otherwise` if the allocator has none of this name. */
static inline uint32_t scalar_of(const test_plan *plan, const char *name, uint32_t otherwise) {
    for (uint32_t i = 0; name != NULL && i < plan->allocator->tunable_count; i++) {
        const hfit_tunable *tunable = &plan->allocator->tunables[i];
        if (tunable->kind == HFIT_SCALAR && strcmp(tunable->name, name) == 0) {
            uint32_t value;
            memcpy(&value, (const unsigned char *)plan->bytes + tunable->offset, sizeof value);
            return value;
        }
    }
    return otherwise;
}

static inline bool axis_is(const test_plan *plan, const hfit_axis *axis, const char *text) {
    const uint32_t value = scalar_of(plan, axis->tunable, 3);
    const char *told = value < 3 && axis->texts[value] != NULL ? axis->texts[value] : axis->text;
    return told != NULL && strcmp(told, text) == 0;
}

static inline placement_rule rule_of(const test_plan *plan) {
    const hfit_axes *axes = &plan->allocator->axes;
    if (scalar_of(plan, "ends", 1) == 2 || scalar_of(plan, "hole_limit", 0) != 0 ||
        axis_is(plan, &axes->growth, "by pages of a request") ||
        axis_is(plan, &axes->growth, "by what a request lacks") ||
        strcmp(plan->allocator->name, "lea") == 0) {
        return RULE_NONE;
    }
    if (axis_is(plan, &axes->block_fit, "best")) {
        return RULE_BEST;
    }
    if (axis_is(plan, &axes->block_fit, "good")) {
        return RULE_GOOD;
    }
    return axis_is(plan, &axes->block_fit, "first") && axis_is(plan, &axes->pools, "one") &&
                   axis_is(plan, &axes->order, "by address")
               ? RULE_FIRST
               : RULE_NONE;
}

static inline void oracle_start(rule_oracle *o, const test_plan *plan) {
    memset(o, 0, sizeof *o);
    o->rule = rule_of(plan);
    o->overhead = SIZE_MAX;
    o->least_rest = plan->allocator->needs_size ? 8 : 0; /* nothing remembers what is shorter */
    o->has_top = !axis_is(plan, &plan->allocator->axes.growth, "the whole region is free at first");
}

static inline void note_chunk(void *context, const void *block, size_t size, bool is_used) {
    rule_oracle *o = context;
    const size_t start = (size_t)((const unsigned char *)block - o->region);
    if (o->is_last_free && o->count <= ORACLE_CHUNKS) {
        const oracle_chunk *last = &o->free[o->count - 1];
        const size_t more = start - last->start - last->size;
        o->overhead = more < o->overhead ? more : o->overhead;
    }
    o->is_last_free = !is_used;
    if (is_used) {
        o->last_used = start;
        return;
    }
    if (o->count < ORACLE_CHUNKS) {
        o->free[o->count] = (oracle_chunk){(uint16_t)start, (uint16_t)size, 0};
    }
    o->count++;
}

/* Numbers the chunks of the step before by their order, from 1. */
static inline void cut_times(rule_oracle *o) {
    uint16_t order[ORACLE_CHUNKS];
    for (size_t i = 0; i < o->count_before; i++) {
        order[i] = 1;
        for (size_t k = 0; k < o->count_before; k++) {
            order[i] = (uint16_t)(order[i] + (o->before[k].freed < o->before[i].freed));
        }
    }
    for (size_t i = 0; i < o->count_before; i++) {
        o->before[i].freed = order[i];
    }
    o->clock = ORACLE_CHUNKS;
}

/* A chunk that was free at the step before, too, was freed when that was. Both are by address. */
static inline void note_times(rule_oracle *o) {
    size_t i = 0;
    if (o->clock == UINT16_MAX) {
        cut_times(o);
    }
    o->clock++;
    for (size_t k = 0; k < o->count && k < ORACLE_CHUNKS; k++) {
        oracle_chunk *chunk = &o->free[k];
        while (i < o->count_before && o->before[i].start < chunk->start) {
            i++;
        }
        const bool is_old = i < o->count_before && o->before[i].start == chunk->start &&
                            o->before[i].size == chunk->size;
        chunk->freed = is_old ? o->before[i].freed : o->clock;
    }
}

/* Looks at the heap before a step. */
static inline void oracle_look(rule_oracle *o, const model *m) {
    o->count_before = o->count < ORACLE_CHUNKS ? o->count : ORACLE_CHUNKS;
    memcpy(o->before, o->free, o->count_before * sizeof o->free[0]);
    o->count = 0;
    o->region = m->region;
    o->last_used = 0;
    o->is_last_free = false;
    m->operations->walk(m->heap, plan_of(m->plan), note_chunk, o);
    note_times(o);
}

static inline unsigned class_of_whole(const model *m, size_t whole) {
    const unsigned granules = (unsigned)(whole / plan_of(m->plan)->alignment);
    unsigned width = 0;
    while (granules >> width >= 8) {
        width++;
    }
    return granules < ALONE ? granules : 256 * width + (granules >> width);
}

/* True if `other` stands before `chunk` in a list. */
static inline bool is_freed_later(const oracle_chunk *other, const oracle_chunk *chunk) {
    return chunk == NULL || other->freed > chunk->freed;
}

/* The chunk that a good fit takes for `least` usable bytes; NULL: the top. */
static inline const oracle_chunk *find_good(const rule_oracle *o, const model *m, size_t least) {
    const unsigned class = class_of_whole(m, least + o->overhead);
    const oracle_chunk *probed[PROBED] = {NULL, NULL};
    const oracle_chunk *larger = NULL;
    unsigned next = ~0u;
    for (size_t i = 0; i < o->count; i++) {
        const oracle_chunk *chunk = &o->free[i];
        const unsigned its = class_of_whole(m, chunk->size + o->overhead);
        if (chunk->start > o->last_used || its < class) { /* the top, or too small */
            continue;
        }
        if (its > class) {
            larger = its < next || (its == next && is_freed_later(chunk, larger)) ? chunk : larger;
            next = its < next ? its : next;
        } else if (is_freed_later(chunk, probed[0])) {
            probed[1] = probed[0];
            probed[0] = chunk;
        } else if (is_freed_later(chunk, probed[1])) {
            probed[1] = chunk;
        }
    }
    for (size_t i = 0; i < PROBED; i++) {
        if (probed[i] != NULL && probed[i]->size >= least) {
            return probed[i];
        }
    }
    return larger;
}

/* True if a free chunk can serve `least` bytes. */
static inline bool can_serve(const rule_oracle *o, const oracle_chunk *chunk, size_t least) {
    return chunk->size >= least && (chunk->size == least || chunk->size - least >= o->least_rest);
}

/* True if a request served from `chosen` should have got `other`. */
static inline bool is_misplaced(const rule_oracle *o, const oracle_chunk *chosen,
                                const oracle_chunk *other, size_t least) {
    if (o->rule == RULE_FIRST) {
        return other->start < chosen->start && other->size >= least;
    }
    return can_serve(o, other, least) && other->size < chosen->size;
}

/* What a block of this request needs: no more than any had. */
static inline size_t learn_least(rule_oracle *o, const model *m, const live_block *block) {
    const size_t alignment = plan_of(m->plan)->alignment;
    size_t usable = m->operations->usable_size(m->heap, plan_of(m->plan), block->address);
    if (usable == 0) {
        usable = (block->size + alignment - 1) & ~(alignment - 1);
        usable = usable < 8 ? 8 : usable;
    }
    uint16_t *least = &o->least[block->size];
    *least = *least == 0 || usable < *least ? (uint16_t)usable : *least;
    return *least;
}

/* Judges the block that the model got last. */
static inline void oracle_judge(rule_oracle *o, const model *m) {
    const live_block *block = &m->live[m->live_count - 1];
    if (o->count > ORACLE_CHUNKS) {
        return;
    }
    const size_t least = learn_least(o, m, block);
    const oracle_chunk *chosen = NULL;
    size_t better = 0;
    for (size_t i = 0; i < o->count; i++) {
        const size_t start = (size_t)(block->address - o->region);
        const bool holds =
            start >= o->free[i].start && start < (size_t)o->free[i].start + o->free[i].size;
        chosen = holds ? &o->free[i] : chosen;
    }
    CHECK(chosen != NULL);
    const bool is_top = o->has_top && chosen->start > o->last_used;
    if (o->rule == RULE_GOOD) {
        CHECK(find_good(o, m, least) == (is_top ? NULL : chosen));
        return;
    }
    for (size_t i = 0; i < o->count; i++) {
        const bool is_candidate = !o->has_top || o->free[i].start < o->last_used;
        const bool beats = is_top && o->rule != RULE_FIRST
                               ? can_serve(o, &o->free[i], least)
                               : is_misplaced(o, chosen, &o->free[i], least);
        better += is_candidate && &o->free[i] != chosen && beats;
    }
    CHECK(better == 0);
}

#endif
