/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle of placement: before each request all free chunks are walked, and the block must lie
 * in the one that the allocator's rule names (block_fit and order of its descriptor).
 *
 *   best     the smallest that will do
 *   first    by address: the lowest that will do
 *   good     none that will do surely is a class smaller; classes are a quarter of a power of two
 *
 * What will do is learned: a chunk with as many usable bytes as a block of this request ever had.
 * The top, from which a request is cut if no other chunk will do, is no candidate. Plans of
 * two ends are not judged, since they choose on one side of the top, nor those that keep large
 * holes whole (hole_limit); those that may have two from alignment 8 on: at 4 they cut no rest of
 * one granule.
 */
#ifndef CONTRACT_RULE_ORACLE_H
#define CONTRACT_RULE_ORACLE_H

#include "check.h"
#include "model.h"

#include <string.h>

enum { ORACLE_CHUNKS = 2 * MOST_LIVE };

typedef enum placement_rule { RULE_NONE, RULE_BEST, RULE_FIRST, RULE_GOOD } placement_rule;

typedef struct oracle_chunk {
    const unsigned char *start;
    size_t size;
} oracle_chunk;

typedef struct rule_oracle {
    placement_rule rule;
    bool has_top;
    uint16_t least[JUDGED_SIZES]; /* usable bytes that have served a request of so many; 0: none */
    oracle_chunk free[ORACLE_CHUNKS];
    size_t count;
    const unsigned char *last_used;
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
    if ((scalar_of(plan, "ends", 0) != 0 && plan_of(plan)->alignment < 8) ||
        scalar_of(plan, "ends", 1) == 2 || scalar_of(plan, "hole_limit", 0) != 0) {
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
    o->has_top = !axis_is(plan, &plan->allocator->axes.growth, "the whole region is free at first");
}

static inline void note_chunk(void *context, const void *block, size_t size, bool is_used) {
    rule_oracle *o = context;
    if (is_used) {
        o->last_used = block;
        return;
    }
    if (o->count < ORACLE_CHUNKS) {
        o->free[o->count] = (oracle_chunk){block, size};
    }
    o->count++;
}

static inline void oracle_look(rule_oracle *o, const model *m) {
    o->count = 0;
    o->last_used = m->region;
    m->operations->walk(m->heap, plan_of(m->plan), note_chunk, o);
}

/* True if a request served from `chosen` should have got `other`. */
static inline bool is_misplaced(const rule_oracle *o, const oracle_chunk *chosen,
                                const oracle_chunk *other, size_t least) {
    if (o->rule == RULE_FIRST) {
        return other->start < chosen->start && other->size >= least;
    }
    if (o->rule == RULE_GOOD) {
        return other->size >= least + least / 4 + 16 &&
               other->size + other->size / 4 + 16 < chosen->size;
    }
    return other->size >= least && other->size < chosen->size;
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
        const bool holds = block->address >= o->free[i].start &&
                           block->address < o->free[i].start + o->free[i].size;
        chosen = holds ? &o->free[i] : chosen;
    }
    CHECK(chosen != NULL);
    const bool is_top = o->has_top && chosen->start > o->last_used;
    for (size_t i = 0; i < o->count; i++) {
        const bool is_candidate = !o->has_top || o->free[i].start < o->last_used;
        const bool beats =
            is_top && o->rule != RULE_FIRST
                ? o->free[i].size >= least + (o->rule == RULE_GOOD ? least / 4 + 16 : 0)
                : is_misplaced(o, chosen, &o->free[i], least);
        better += is_candidate && &o->free[i] != chosen && beats;
    }
    CHECK(better == 0);
}

#endif
