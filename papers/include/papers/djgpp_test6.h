/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists by powers of two over storage asked for block by block: the malloc of DJGPP 2.02, test6 of
 * its malloc contest (D. J. Delorie), one of the allocators that Lee and Yi 2008 compare with,
 * section V.
 *
 * Chunks have a tag at either end. A request first looks in its own of 30 lists by powers of two
 * for a chunk less than a quarter too large; then takes the block that was split last (the slop) if
 * that is large enough; then the first large enough chunk of the lists, from its own upwards, last
 * in first out; then storage of just its size and 16 bytes for two tags and two lone tags. What is
 * left of a chunk, 64 bytes or more, is the new slop. Freed chunks join free neighbours, and
 * remember their list meanwhile.
 *
 * Inferred: the number in the contest, which the page tells of test1 only; that storage which
 * continues the last gives its block the lone tag there and so 8 bytes more; the rule for resize,
 * which stays in a chunk it fills by half and moves otherwise.
 */
#ifndef PAPERS_DJGPP_TEST6_H
#define PAPERS_DJGPP_TEST6_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(djgpp_test6);

#ifdef __cplusplus
}
#endif

#endif
