/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exact best fit with the top used last: the general heap that needs least memory, in bounded time.
 *
 *   0       4     8           12      16          20        80         140
 *   +-------+-----+-----------+-------+-----------+---------+----------+--------+- ... -+-----+
 *   | first | end | footprint | tally | class map | 15 bins | 15 tries | chunks |       | top |
 *   +-------+-----+-----------+-------+-----------+---------+----------+--------+- ... -+-----+
 *
 *   used chunk    | size+F | payload ...                                                       |
 *   free chunk    | size+F | next | previous | ...                                      | size |
 *   in a trie     | size+F | next | previous | lower | higher | slot | ...              | size |
 *
 * A request takes the smallest free chunk that will do, and splits it. Only if none will do is it
 * cut from the top, the free chunk at the region's end. So no placement depends on where the region
 * ends: the footprint of one run in a large region is the smallest region for that run, and a
 * region that is larger than needed changes nothing. A freed chunk is joined with its free
 * neighbours at once.
 *
 * Chunks below 16 alignments hang in bins of one size each, the others in bitwise tries, one for
 * each power of two up to 1 MiB and one above. Of chunks of one size a bin gives the one freed
 * last, a trie the one freed first. (dlmalloc 2.8, Lea 2005, does so, too; its designated victim,
 * which takes small requests out of turn, is left out.)
 *
 * Time: `alloc` walks at most four times down a trie (two to find, one to take, one to put back
 * what is split off), `free` at most three times (to take each neighbour, to put back), the rest is
 * constant. A walk passes at most one chunk for each bit of a size above the alignment: 13 at an
 * alignment of 8 in chunks below 64 KiB, however many chunks there are.
 *
 * Memory: a block of n bytes takes n + 4 bytes rounded up to the alignment, and 16 at least. The
 * control block takes 140 bytes, the smallest region 160. In the worst case best fit needs about M
 * (n - 2) for M live bytes and a largest request of n units (Robson 1977): it suits programs
 * measured by their traces, not a proof for all programs.
 */
#ifndef HFIT_BEST_FIT_H
#define HFIT_BEST_FIT_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_best_fit_plan {
    hfit_plan common;
} hfit_best_fit_plan;

HFIT_DECLARE_ALLOCATOR(best_fit);

#ifdef __cplusplus
}
#endif

#endif
