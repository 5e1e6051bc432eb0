/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plug-in's region between two pages that cannot be touched, and which of its bytes live blocks
 * have.
 *
 *   | no access | region, at a multiple of a power of two >= its size | filler | no access |
 *
 * The filler, up to the page's end, holds bytes that must not change.
 */
#ifndef HOST_REGION_H
#define HOST_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of each byte of the region, what it is of. */
typedef enum byte_use { BYTE_FREE, BYTE_FIRST, BYTE_REST } byte_use;

typedef struct region {
    unsigned char *start; /* NULL: the process has no room for it */
    size_t size;
    size_t mapped;       /* from `start` to the page behind, that cannot be touched */
    unsigned char *uses; /* a byte_use a byte, and one more; NULL: not kept */
} region;

extern region heap_region; /* of the child: there is one at a time */

/* Maps a region of zeros; with `uses` if blocks are to be checked against each other. */
void make_region(size_t size, bool has_uses);

/* Whether so many bytes at an address lie inside. */
bool is_inside(const void *address, size_t size);

/* Whether an address lies in the pages around it. */
bool is_beside(const void *address);

bool is_filler_kept(void);

/* Marks a block's bytes; stops the child at FAULT_OVERLAP or FAULT_TOO_SMALL if another live one
 * has some of them. Nothing where uses are not kept. */
void claim(const void *block, size_t size);
void unclaim(const void *block, size_t size);

#endif
