/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit by address with coalescing in the fewest bytes of code: the rule of FreeRTOS's heap_4
 * behind headers of 4 B.
 *
 *   0            4      8     12          16      20
 *   +------------+------+-----+-----------+-------+-------+-- ... --+-------+
 *   | no request | head | end | footprint | tally | chunk |         | chunk |
 *   +------------+------+-----+-----------+-------+-------+-- ... --+-------+
 *                   |                                ^
 *                   +--------------------------------+
 *   used chunk    | size | payload ... |
 *   free chunk    | size | next | ...  |      `next` is the free chunk behind it; 0: there is none
 *
 * A request takes the lowest free chunk that is large enough and splits it; a freed chunk is put
 * into the list by its address, and joined with its free neighbours.
 *
 * Time: `alloc` passes over the free chunks below the one that serves, `free` over those below the
 * block. There is no bound but the number of free chunks: with thousands of holes a call takes
 * thousands of instructions, nearly twice those of heap_4.
 *
 * Memory: a block of n bytes takes n + 4 rounded up to the alignment, and at least 8. Of a region
 * of nearly 4 GiB up to 64 bytes at the end stay unused.
 */
#ifndef HFIT_ADDRESS_FIRST_FIT_H
#define HFIT_ADDRESS_FIRST_FIT_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_address_first_fit_plan {
    hfit_plan common;
} hfit_address_first_fit_plan;

HFIT_DECLARE_ALLOCATOR(address_first_fit);

#ifdef __cplusplus
}
#endif

#endif
