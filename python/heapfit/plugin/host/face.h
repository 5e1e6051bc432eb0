/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-in as the rest of the host calls it: what it left out is settled here.
 */
#ifndef HOST_FACE_H
#define HOST_FACE_H

#include "entries.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct block {
    unsigned char *address; /* NULL: none, or refused */
    uint32_t size;          /* asked for, 0 included */
    uint32_t alignment;
} block;

typedef struct face {
    void *heap;
    size_t alignment; /* of every block at least */
    bool copies;      /* whether a resize that is a second block copies */
} face;

/* What all others call; it stays the caller's. */
void use_entries(const entries *table);

/* Whether sizes are handed back to the plug-in. */
bool is_sized(void);

/* The functions that the plug-in must have and has not, as one line; NULL: none. */
const char *missing_functions(void);

/* Runs the plug-in's constructors, as the start of a program would. */
void construct(void);

/* The heap in a region; NULL: none. */
void *face_init(void *region, size_t size, size_t alignment);

/* A new block, of no contents yet; an `address` of NULL: refused. */
block face_alloc(const face *f, size_t alignment, size_t size, bool is_aligned);

/* The block's address with another size; NULL: refused. */
void *face_resize(const face *f, const block *old, size_t size);

void face_free(const face *f, const block *old);

#endif
