/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap under attack: a region between two pages that cannot be touched, and what must hold of
 * every block it hands out.
 */
#ifndef BATTERY_SUBJECT_H
#define BATTERY_SUBJECT_H

#include "plans.h"

enum { BATTERY_REGION = 64 * 1024 };

typedef struct subject {
    const test_plan *from;
    const hfit_allocator *allocator;
    const hfit_operations *operations;
    const hfit_plan *plan;
    hfit_heap *heap;
    unsigned char *region; /* BATTERY_REGION bytes */
} subject;

/* What an attack led to. The order is from good to bad, so the worst of many is the largest. */
typedef enum verdict {
    VERDICT_OK,         /* served, or refused as the contract asks; no harm came of it */
    VERDICT_REFUSED,    /* told as misuse, nothing changed */
    VERDICT_CHANGED,    /* not to be served, yet the region is not as before */
    VERDICT_MISALIGNED, /* a block off its alignment */
    VERDICT_UNDERSIZED, /* a block shorter than asked for */
    VERDICT_CORRUPT,    /* a live block's bytes changed */
    VERDICT_OVERLAP,    /* two live blocks share bytes, or one lies outside the region */
    VERDICT_CRASH,
    VERDICT_HANG,
    VERDICTS,
} verdict;

static inline verdict worse_of(verdict a, verdict b) {
    return a > b ? a : b;
}

/* A fresh heap; ends the program if the plan does not start. */
subject subject_start(const test_plan *plan);

/* The attacker's own way to write a block: every byte of every piece. */
void subject_fill(const subject *s, void *block, size_t size, unsigned char value);
bool subject_keeps(const subject *s, const void *block, size_t size, unsigned char value);

/* Whether a block that was handed out for `size` bytes is as it must be, alone. */
verdict subject_judge(const subject *s, const void *block, size_t alignment, size_t size);

/* Takes the region as it is for the one that refused requests must leave. */
void subject_remember(const subject *s);

/* Asks for `size` bytes, which no region can hold, or at an alignment that is none. `alignment` 0:
 * plain alloc. */
verdict subject_must_refuse(const subject *s, size_t alignment, size_t size);

/* Whether the region is as it is remembered: after all that was refused, since each look at it
 * takes longer than a request. */
verdict subject_must_be_unchanged(const subject *s);

/* 64 small allocations after the attack: inside the region, apart, keeping what is written. */
verdict subject_still_serves(const subject *s);

#endif
