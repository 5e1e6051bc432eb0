/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Half-fit with blocks of powers of two: the discipline of o1heap (P. Kirienko, readme of version
 * 2.2, sections Theory and Implementation), after T. Ogasawara, An algorithm with constant
 * execution time for dynamic storage allocation, 1995.
 *
 * A request of r bytes gets a fragment of 2^ceil(log2(r + 16)) bytes, header of 16 bytes included,
 * and 32 at least. Free fragments, of any multiple of 32, hang in bins by the power of two below
 * their size. A request takes the fragment freed last of the first bin that is not empty and whose
 * fragments are all large enough, so it passes by half of those that would do; the rest is split
 * off at once. A freed fragment joins its free neighbours. All in constant time.
 *
 * The header is o1heap's on 32 bits: next fragment, previous fragment, size, used. A fragment
 * begins at the plan's alignment, while o1heap's begin at 16. o1heap 2.2 has neither resize nor
 * aligned allocation. Here a resize stays in a fragment of the right power of two and moves
 * otherwise, and an aligned block takes a larger fragment and leaves a way back before itself
 * (src/shifted_block.h).
 */
#ifndef BASELINES_HALFFIT_H
#define BASELINES_HALFFIT_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(halffit);

#ifdef __cplusplus
}
#endif

#endif
