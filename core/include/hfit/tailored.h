/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap that a plan lays out for one program: where the bounds of chunks are kept, how free ones
 * are found, and from which end requests are cut.
 *
 *   0     4       8           12      16    20        24
 *   +-----+-------+-----------+-------+-----+---------+--------+-----------+-- ... --+
 *   | end | first | footprint | tally | top | top end | map at | class map | classes |
 *   +-----+-------+-----------+-------+-----+---------+--------+-----------+-- ... --+
 *   +-------- ... --------+--------+ ... +--------+ ... +-----+
 *   | map of granules      | chunk  |     | chunk  |     | top |
 *   +-------- ... --------+--------+ ... +--------+ ... +-----+
 *
 *   used chunk             | payload ...                                                   |
 *   free chunk, in a list  | next | previous | size, where the list has several | ...      |
 *   free chunk, in a trie  | next | previous | size | lower | higher | slot | ...          |
 *
 * A granule is the plan's alignment. `layout` says where the bounds are:
 * - 0, a map: a block takes its bytes rounded up to granules, two granules at least, and nothing
 *   else. The map costs 1 bit a granule, 3.1 % of the region at 4 B and 1.6 % at 8 B. So small
 *   blocks are cheap. The map is also the truth about what is allocated, and no block lies beside
 *   it: at safety level 1 any address that is not a live block's is refused, whatever the caller
 *   wrote into its blocks.
 * - 1, headers: a word before each block, and no map. A block takes its bytes and 4
 *   rounded up to granules, 16 B at least. Cheaper where blocks have 250 B or more in the mean, and
 *   faster: no bounds are searched.
 * - 2, pairs: a map, of 3 bits for two granules, 2.3 % of the region at 8 B. A chunk may have one
 *   granule, so that a request of up to 8 B takes 8 instead of 16. For alignments of 8 and 16.
 *
 * A request takes a free chunk, and splits it. Only if none will do is it cut from the top. A freed
 * chunk is joined with its free neighbours at once. `index` says which chunk:
 * - 0, exact best fit: the smallest that will do. Chunks below 8 granules hang in lists of one size
 *   each, the others in bitwise tries, one for each power of two that the region can hold.
 * - 1, good fit, for hard real time, of a map: one that will do of the first two in the list of its
 *   class, else the first of the next class. Classes have one size below 16 granules, then there
 *   are four for each power of two. Behind headers it is an allocator of its own, hfit/good_fit.h.
 *
 * With a `hole_limit` of k a chunk of more than k times the request is left while the top has room:
 * so small requests do not nibble at the one large hole that a large one will need again.
 *
 * With two ends the top lies in the middle. Requests of some size classes, which the plan names,
 * are cut from its end; what is freed there serves them again, and the others only if nothing else
 * will do. So blocks that live long and blocks that come and go can be kept apart, without a bound
 * that one of them might hit. What belongs where is learned from a recording. A caller that tells
 * where it asks, by a tag (alloc_at), is served at the end that the plan names for the tag.
 *
 *   +---------+------------------------+-------------+-----------------------+
 *   | control | blocks of most classes | ->  top  <- | blocks of the others  |
 *   +---------+------------------------+-------------+-----------------------+
 *
 * Time: with an exact index `alloc` walks at most four times down a trie (two to find, one to take,
 * one to put back what is split off; with two ends six times), `free` at most three times (to take
 * each neighbour, to put back). A walk passes at most one chunk for each bit of a size in granules.
 * The rest is constant, the search for a chunk's end in a map, too; so is all of it for a good fit.
 *
 * Memory: a map's heap of one end has 56 bytes of control words and classes and 4 for each power of
 * two of granules in the region from 8 on, or, of good fit, 100 and 16 for each power of two from
 * 16 on; headers take 4 less, and two ends each class and its map twice.
 *
 * A heap has 2^29 - 1 granules at most, and 2^28 - 1 with an exact index where a chunk may have one
 * granule: of a larger region the rest stays unused. So layout 2 uses up to 2 GiB - 8 at 8 B.
 */
#ifndef HFIT_TAILORED_H
#define HFIT_TAILORED_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A bit of high_0 or high_1 stands for a size class: bit n for chunks of n granules up to 15, and
 * from 16 on bit 4 l + q for those of (4 + q) 2^(l - 2) granules, q from 0 to 3, and more up to the
 * next class. Bits 0 to 31 are in high_0, bits 32 to 63 in high_1; the last one stands for all
 * larger chunks, too. */
enum { HFIT_TAILORED_CLASSES = 64 };

/* Tags stand for call sites: what is asked for with one of them is cut from the end that the tag's
 * bit tells, whatever its size. */
enum { HFIT_TAILORED_TAGS = 31 };

enum { HFIT_TAILORED_MOST_LIMIT = 64 }; /* of hole_limit */

typedef enum hfit_tailored_layout {
    HFIT_TAILORED_MAP,
    HFIT_TAILORED_HEADERS,
    HFIT_TAILORED_PAIRS
} hfit_tailored_layout;

typedef enum hfit_tailored_index {
    HFIT_TAILORED_EXACT,
    HFIT_TAILORED_GOOD_FIT
} hfit_tailored_index;

typedef struct hfit_tailored_plan {
    hfit_plan common;
    uint32_t ends;   /* 1: chunks are cut from the top's beginning; 2: some from its end */
    uint32_t high_0; /* bit set: the class is cut from the end */
    uint32_t high_1;
    uint32_t layout;     /* an hfit_tailored_layout */
    uint32_t index;      /* an hfit_tailored_index */
    uint32_t tags;       /* 1 to `tags` are known, at most HFIT_TAILORED_TAGS */
    uint32_t tag_high;   /* bit n set: tag n is cut from the end */
    uint32_t hole_limit; /* chunks of more than so many times a request are left while the top
                            serves; 0: none is too large */
} hfit_tailored_plan;

HFIT_DECLARE_ALLOCATOR(tailored);

/* As `alloc` and `alloc_usable`, for a caller that tells where in the program it asks. 0 is no
 * tag. */
void *hfit_tailored_alloc_at(hfit_heap *heap, const hfit_plan *plan, size_t size, uint32_t tag);
void *hfit_tailored_alloc_at_usable(hfit_heap *heap, const hfit_plan *plan, size_t size,
                                    uint32_t tag, size_t *usable);

#ifdef __cplusplus
}
#endif

#endif
