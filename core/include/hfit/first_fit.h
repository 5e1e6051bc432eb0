/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit over one list of free chunks (Cebeci 2019, section 2; with `coalesce` section 3.1).
 *
 *   head -> | size+F | next | previous | ... | size |  ->  | size+F | next | ...
 *
 * A request takes the first chunk on the list that is large enough and splits it; what is left goes
 * back onto the list, as a freed block does. With `coalesce` 0 free neighbours are never joined:
 * the report's first version, which wears its heap down. It has a header of 24 bytes, which
 * `header_size` gives; here 4 do, as no more than the size and two flags are kept in it.
 *
 * The report does not tell the order of its list nor when a chunk is "large enough" to be split. A
 * freed chunk in front (`list` 0) and a split whenever the rest can be a chunk (`least_split` 0)
 * are inferred: with them its measurements come out (docs/evidence/slotbuf.md).
 *
 * Time, at worst, in steps of one chunk each:
 *   list                 alloc           free, resize in place
 *   0  last in first out free chunks     1
 *   1  by address        2 free chunks   free chunks
 *   2  implicit          chunks          1
 * A block of n bytes takes n + `header_size` bytes rounded up to the alignment, and at least 16; 8
 * with the implicit list, since its free chunks hold no links.
 */
#ifndef HFIT_FIRST_FIT_H
#define HFIT_FIRST_FIT_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the free chunks are found. */
typedef enum hfit_first_fit_order {
    HFIT_FIRST_FIT_LIFO,       /* a list, last freed first */
    HFIT_FIRST_FIT_BY_ADDRESS, /* a list, lowest address first */
    HFIT_FIRST_FIT_IMPLICIT,   /* no list: chunk by chunk through the heap, used ones too */
} hfit_first_fit_order;

typedef struct hfit_first_fit_plan {
    hfit_plan common;
    uint32_t coalesce;    /* 1: join free neighbours at once; 0: never */
    uint32_t list;        /* an hfit_first_fit_order */
    uint32_t header_size; /* bytes before each block: 4 to 64, a multiple of 4 */
    uint32_t least_split; /* the least bytes left over that are split off, up to 4096; 0: as few as
                             can be a chunk */
} hfit_first_fit_plan;

HFIT_DECLARE_ALLOCATOR(first_fit);

/* The report's flist_data: returns how many free chunks there are and stores what each could serve,
 * in bytes, for the first `most` of them in the order in which they are searched. */
size_t hfit_first_fit_free_sizes(const hfit_heap *heap, const hfit_plan *plan, uint32_t *sizes,
                                 size_t most);

#ifdef __cplusplus
}
#endif

#endif
