/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a program: a plan of one of core's allocators, a region, and what is asked of the
 * heap there, rightly and wrongly, until the bytes are used up. After every step the heap is
 * compared with the obvious model, and with a second heap, elsewhere, that was asked the same.
 *
 *   | plan | region's size and base | operation | operation | ... |
 *
 * What must hold:
 * - a region is taken just from the plan's smallest on, and by a sound plan only;
 * - what is refused, and what is told as misuse, changes not one byte of the region;
 * - no call touches a byte outside the region;
 * - two heaps whose bases are alike, modulo the largest alignment asked for, are the same to the
 *   byte: a block's place depends on nothing but the calls.
 *
 * Ends the process with the place and the statement that does not hold.
 */
#ifndef HEAP_PROGRAM_H
#define HEAP_PROGRAM_H

#include "hfit/descriptor.h"

#include <stddef.h>
#include <stdint.h>

typedef struct program_count {
    uint64_t steps;   /* calls of a heap, of both as one */
    uint64_t live;    /* blocks after each of them, added up */
    uint64_t misuses; /* of them, such as must be told */
    uint64_t heaps;
    uint64_t refused_regions; /* too small, or for a malformed plan */
} program_count;

/* Runs a program on a heap of `allocator`, or, if that is NULL, of one that the bytes choose, and
 * adds what it did to `count`. */
void run_heap_program(const hfit_allocator *allocator, const uint8_t *bytes, size_t size,
                      program_count *count);

#endif
