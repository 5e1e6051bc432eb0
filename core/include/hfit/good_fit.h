/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Good fit behind headers of 4 B, in constant time and few instructions: the heap for firmware that
 * would else take a list by address.
 *
 *   0      16    20    24          28      32                                             end
 *   +------+-----+-----+-----------+-------+------- ... -------+-------+ ... +---------------+
 *   | maps | end | top | footprint | first | heads of classes  | chunk |     | top           |
 *   +------+-----+-----+-----------+-------+------- ... -------+-------+ ... +---------------+
 *
 *   used chunk    | size+F | payload ...                       |
 *   free chunk    | size+F | next | previous | ...    | size+F |
 *
 * A class has one size up to 16 times the alignment; from there on there are four for each power of
 * two, and no more than the region can hold. A request takes one that will do of the first two free
 * chunks in its class, else the first of the next class that has any, and splits it. Only if there
 * is none is it cut from the top, which is what nobody has used last. A freed chunk is joined with
 * its free neighbours at once.
 *
 * Time: constant. `alloc` looks at two chunks and four words of the maps at most; `free` takes two
 * neighbours out of their lists.
 *
 * Memory: a block of n bytes takes n + 4 rounded up to the alignment, and at least 16. Control
 * words take 36 bytes, 4 for each size from 16 bytes to below 16 times the alignment, and 16 for
 * each power of two from there on. Of a region of nearly 4 GiB up to 64 bytes at the end stay
 * unused.
 */
#ifndef HFIT_GOOD_FIT_H
#define HFIT_GOOD_FIT_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_good_fit_plan {
    hfit_plan common;
} hfit_good_fit_plan;

HFIT_DECLARE_ALLOCATOR(good_fit);

#ifdef __cplusplus
}
#endif

#endif
