/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLSF: two-level segregated fit (Masmano et al. 2004), with a control block that scales with the
 * region and without rounding.
 *
 *   first  end  footprint  tally  shape  map map  map  bins        chunks           sentinel
 *   +-----+----+----------+------+------+--------+----+-----------+------- ... ----+---+
 *   |     |    |          |      |      |        |... | head head | size+F payload |   |
 *   +-----+----+----------+------+------+--------+----+-----------+------- ... ----+---+
 *
 * Free chunks hang in bins, one a size class, last freed first. The first level halves sizes by
 * powers of two, the second cuts each power of two into 2^second_level equal classes. Classes are
 * of the payload, so that a request of 2^k bytes is the lower bound of one. A request first looks
 * at `probes` chunks of its own class, of which some are large enough, then takes the first of the
 * next class above that has one, of which all are; a bitmap of two levels finds it. TLSF as
 * published, which probes = 0 is, rounds a request up to the next class instead and misses chunks
 * that would do; espressif's keeps the rounding in each block. Looking twice, the standard, costs
 * less memory than both, with half as many classes.
 *
 * Steps: alloc looks at `probes` chunks and three words of the maps, takes one chunk out of its
 * list and puts at most one back; free takes out at most two and puts one back. No loop depends on
 * the heap, so the time is constant but for what `resize` copies.
 *
 * Bytes: a block of n bytes takes n + 4 rounded up to the alignment, and at least 16; it may keep
 * up to 12 more that were too few for a chunk. The control words take 64 bytes in a region of
 * 256 B, 148 in 2 KiB, 196 in 16 KiB and 544 in 1 MiB, at an alignment of 4.
 *
 * Fragmentation: free chunks never adjoin, so k live ones have at most k + 1 between them. When a
 * request is refused each of these is below c, the upper bound of its class, at most 1 +
 * 1/2^second_level times what it needs. So a heap whose live chunks take M bytes and that refuses
 * has less than M + (k + 1) c bytes behind its control words.
 */
#ifndef HFIT_TLSF_H
#define HFIT_TLSF_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_tlsf_plan {
    hfit_plan common;
    uint32_t second_level; /* log2 of the classes in each power of two, 1 to 5; 0: by the region's
                              size */
    uint32_t probes;       /* chunks looked at in the class of a request; 0: none, as published */
} hfit_tlsf_plan;

HFIT_DECLARE_ALLOCATOR(tlsf);

#ifdef __cplusplus
}
#endif

#endif
