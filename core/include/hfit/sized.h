/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap whose callers hand the size back: free_sized and resize_sized, as C++14's sized delete,
 * std::pmr, Rust's GlobalAlloc, Lua's lua_Alloc and C23's free_sized do. A used block is its bytes
 * rounded up to granules, two at least where a granule has 4 B; there is neither header nor map.
 *
 *   0     4     8              12     16                    28
 *   +-----+-----+--------------+------+-----------+---------+-------+-- ... --+-----+
 *   | end | top | footprint or | free | roots by  | by size | chunk |         | top |
 *   |     |     | top's end    |      | address   |         |       |         |     |
 *   +-----+-----+--------------+------+-----------+---------+-------+-- ... --+-----+
 *
 *   free chunk of 8 B  | lower, size | higher, size |
 *   from 16 B on       | lower, size | higher, size | smaller, next | larger, next | ... |
 *
 * All there is to know lies in the free chunks. By address they form a bitwise tree over granule
 * numbers, which tells a freed block its neighbours; by size those of 16 B or more form another,
 * with a list for each size, which finds the smallest that will do (best fit). Smaller ones are
 * found in the tree of addresses, where they hang above all others; of equal ones the one farthest
 * from the top serves. The top, from which a request is cut if no free chunk will do, lies in
 * neither.
 *
 * A granule is the alignment. Both links and the size of a chunk of 8 B stand in its two words, so
 * a link has 21 bits and a heap 2^21 - 1 granules at most: 4 B less than 8 MiB at alignment 4, 8 B
 * less than 16 MiB at 8. What a region has behind the last one stays unused. Where a granule has 4
 * B, no chunk is cut so that one alone would be left: a block that is made shorter by one moves,
 * and that is refused where there is no room to move to.
 *
 * With two ends the top lies in the middle, and requests of the size classes that the plan names
 * are cut from its end, as in hfit/tailored.h.
 *
 * Time: no loop over a tree passes more than one chunk for each bit of the region's length in
 * granules, and five more. `alloc` goes through at most 8 such loops, 11 with two ends, and
 * `free_sized` through 10; where a granule has 4 B, 10, 15 and 12; `resize_sized` through those of
 * both and 13.
 *
 * Misuse: at safety level 1 a free is refused whose bytes, as many as the caller says, are not all
 * in use: every second free of memory that is still free, in part or whole. What else a bad size or
 * address hits is in use and cannot be told. `free` and `resize`, which lack the size, are refused,
 * and `usable_size` is 0. From level 2 on the heap keeps a bit for each granule, which tells where
 * live blocks begin: every bad address and size is refused, and calls without a size are served.
 */
#ifndef HFIT_SIZED_H
#define HFIT_SIZED_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_sized_plan {
    hfit_plan common;
    uint32_t ends;   /* 1: chunks are cut from the top's beginning; 2: some from its end */
    uint32_t high_0; /* bit set: the class is cut from the end; see hfit/tailored.h */
    uint32_t high_1;
    uint32_t hole_limit; /* holes larger than so many times a request are left while the top serves;
                            0: none is too large */
} hfit_sized_plan;

HFIT_DECLARE_ALLOCATOR(sized);

#ifdef __cplusplus
}
#endif

#endif
