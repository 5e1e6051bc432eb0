/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Segregated fit: exact lists for small sizes, one general list, coalescing at once (Cebeci 2019,
 * section 3).
 *
 *   map      | ..0 1 0 1 1 |     bit i: exact list i is not empty
 *                  |   | |
 *   exact    16  24  32  40 ...  one list for each chunk size, `exact_lists` of them
 *   general  -> 1320 -> 208 -> ...  all larger chunks, searched first fit
 *
 * From the report: the exact lists, one for each multiple of the alignment (there 8); the general
 * list, searched first fit; joining a freed chunk with its free neighbours before it goes onto the
 * list of its size; splitting.
 * Inferred, since the report is silent: that there are 16 exact lists; that a request whose own
 * list is empty is searched in the general list and only then in the exact lists of larger sizes,
 * in ascending order; that each list is last in first out; that what is left over is split off
 * whenever it can be a chunk. With these its measurements come out (docs/evidence/slotbuf.md).
 * Ours: the map, which finds the exact list in one step instead of one a list, with the same
 * result; and what is better but not the report's, each only where its tunable is set: `upward`
 * searches the larger exact lists before the general one, which keeps large chunks whole;
 * `general_order` 1 takes large requests from the lowest address; `header_size` is 4 where the
 * report has 24.
 *
 * Time: constant for a request of an exact size, since any chunk of the general list serves it, and
 * for free and resize in place. Larger ones take one step a chunk of the general list, and with
 * `general_order` 1 so does what puts a chunk there.
 * A block of n bytes takes n + `header_size` bytes rounded up to the alignment, and at least 16.
 */
#ifndef HFIT_SEGREGATED_FIT_H
#define HFIT_SEGREGATED_FIT_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_segregated_fit_plan {
    hfit_plan common;
    uint32_t exact_lists;   /* 1 to 32 */
    uint32_t upward;        /* 1: larger exact lists are searched before the general one */
    uint32_t general_order; /* of the general list: 0 last freed first, 1 by address */
    uint32_t header_size;   /* bytes before each block: 4 to 64, a multiple of 4 */
    uint32_t least_split;   /* the least bytes left over that are split off, up to 4096; 0: as few
                               as can be a chunk */
} hfit_segregated_fit_plan;

HFIT_DECLARE_ALLOCATOR(segregated_fit);

/* The report's flist_data: returns how many free chunks there are and stores what each could serve,
 * in bytes, for the first `most` of them: the exact lists in ascending order, then the general one.
 */
size_t hfit_segregated_fit_free_sizes(const hfit_heap *heap, const hfit_plan *plan, uint32_t *sizes,
                                      size_t most);

#ifdef __cplusplus
}
#endif

#endif
