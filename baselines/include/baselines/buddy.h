/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary buddy system (Knowlton 1965; Knuth, The Art of Computer Programming 1, section 2.5,
 * algorithms R and S), kept as SQLite's memsys5 keeps it (Dynamic Memory Allocation In SQLite,
 * section 3.1.4): nothing between the blocks, one byte of state beside for every 8 bytes of them.
 *
 * A request is rounded up to a power of two, 8 bytes at least. It takes the block freed last of the
 * smallest power that has one; a larger block is halved until it fits, the upper halves stay free.
 * A freed block joins its buddy, the other half of what it was split from, as long as that is free.
 * The space is as many atoms of 8 bytes as the region holds, cut into blocks of falling powers.
 *
 * A resize stays in a block of the right power and moves otherwise, so that a shrunken block gives
 * memory back, which memsys5 does not do. More alignment is had from a larger block, in which it
 * begins on an atom; where no atom has it, the request is refused.
 *
 * At alignment 16 atoms have 16 bytes.
 */
#ifndef BASELINES_BUDDY_H
#define BASELINES_BUDDY_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(buddy);

#ifdef __cplusplus
}
#endif

#endif
