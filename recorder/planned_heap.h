/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a run on a planned heap is known by: a file that the process maps and the command reads,
 * however the process ends. All numbers are little-endian.
 */
#ifndef HFIT_PLANNED_HEAP_H
#define HFIT_PLANNED_HEAP_H

#include <stdint.h>

/* A request that ran out of memory. Sizes in bytes. */
typedef struct hfit_refusal {
    uint64_t event;   /* its number in a recording of this run, from 0 */
    uint64_t size;    /* requested */
    uint64_t live;    /* as requested, of the blocks live then */
    uint64_t free;    /* in free blocks, wherever they lie; as `largest` 0 but of the first */
    uint64_t largest; /* of these */
    uint64_t site;    /* of the caller, as recorded */
} hfit_refusal;

typedef struct hfit_run {
    uint64_t region; /* bytes; as `parent` from the command */
    uint64_t parent; /* the process whose child the program is */
    uint64_t state;  /* 0: not begun; 1: begun; 2: there is no such region */
    uint64_t pointer_bits;
    uint64_t events;  /* served, as a recording counts them */
    uint64_t live;    /* as requested */
    uint64_t peak;    /* the most that `live` ever was */
    uint64_t refused; /* requests that ran out of memory */
    hfit_refusal first;
    hfit_refusal last;
} hfit_run;

#endif
