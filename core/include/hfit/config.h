/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hooks and settings of a build, each with a default that costs nothing.
 *
 * A build sets a number by -D, as -DHFIT_SAFETY=2. By -DHFIT_ON_MISUSE=NAME and -DHFIT_RANDOM=NAME
 * it names functions of its own, which are declared here. (A macro with arguments stands for
 * nothing before a `)`: where one of the two is such a macro, what is declared is never called.)
 *
 * Anything else is set in one header, -DHFIT_CONFIG_FILE='"my_config.h"'. Every source of core sees
 * it: it defines macros of this file and includes no header but C's own. A platform's header would
 * bring names that core has, too, and is for the source that calls core.
 */
#ifndef HFIT_CONFIG_H
#define HFIT_CONFIG_H

#include <stdint.h>

#ifdef HFIT_CONFIG_FILE
#include HFIT_CONFIG_FILE
#endif

/* How much a call distrusts its caller and its own metadata:
 *   0  nothing is checked: a bad pointer corrupts the heap
 *   1  free, resize and usable_size check in O(1) the pointer and the block it names. Refused is
 *      any address that is not a live block's: second frees whatever was freed, split or joined
 *      since, foreign pointers, pointers into blocks; with HFIT_CHECKS_WORDS also a block beside
 *      damaged metadata. (Of 10^7 random second frees at each alignment none passed.)
 *      Not refused, in heaps with headers: an address before which the program wrote, or the region
 *      held before init, what is a header to the bit and agrees with its neighbours. Pools,
 *      partitions and maps keep what they know apart from blocks, and refuse that, too.
 *      A heap whose callers hand the size over (hfit/sized.h) keeps nothing of blocks: refused is
 *      what is free in part or whole, and not what is in use by another block.
 *   2  as 1, and every call first checks the whole heap, in linear time. What looks like a header
 *      is refused if no walk over the chunks comes by it.
 *   3  as 1, without the walk, and each block is guarded: bytes behind the caller's last one tell
 *      an overrun; a freed block is filled and waits, so that a write to it is told before it is
 *      handed out again; what looks like a header is refused, as it has no guard. A block takes
 *      HFIT_GUARD_A_BLOCK bytes more and a region HFIT_GUARD_SIZE: a plan's pools and region are to
 *      be made for that (docs/hardening.md).
 * What is found is told by HFIT_ON_MISUSE, and the call changes nothing; `heap` is the heap that
 * found it, which behind pools and at level 3 lies inside the one that was called. One call goes
 * on: where tlsf finds the head of a bin damaged as it puts a chunk there, the free or resize is
 * done, and what the head led to is lost. */
#ifndef HFIT_SAFETY
#define HFIT_SAFETY 1
#endif

/* At safety level 1, 1: address_first_fit, good_fit and tailored check the metadata that a call is
 * about to change, too, as all other heaps do anyway. By default these three refuse every address
 * that is not a live block's, for half the price or less, and trust their own words: one that the
 * program damaged, by writing beyond a block or after its free, may lead a call out of the region,
 * and the hook is not told (decision 40). Levels 2 and 3 always check. */
#ifndef HFIT_CHECKS_WORDS
#define HFIT_CHECKS_WORDS 0
#endif

/* At safety level 3: how many freed blocks wait, 1 to 4096. A request that there is no room for
 * lets them go, so that they take no room of their own. */
#ifndef HFIT_QUARANTINE
#define HFIT_QUARANTINE 8
#endif

/* At safety level 3: what a freed block holds. Four of them are no address of a Cortex-M's or a
 * RISC-V's memory as a rule, and eight are none of a 64-bit host, so that a pointer that is read
 * from a freed block faults where it is followed; an address in the lowest memory would not. */
#ifndef HFIT_FREED_BYTE
#define HFIT_FREED_BYTE 0xfdu
#endif

/* The same by the place of the aligned word, for a build that is to know from what a program read
 * where it did: a uint32_t, whose lowest byte comes first. */
#ifdef HFIT_FREED_WORD
#define HFIT_FREED_BYTE_AT(place)                                                                  \
    ((unsigned char)(HFIT_FREED_WORD(place) >> 8 * ((uintptr_t)(place)&3)))
#else
#define HFIT_FREED_WORD(place) (HFIT_FREED_BYTE * 0x01010101u)
#define HFIT_FREED_BYTE_AT(place) HFIT_FREED_BYTE
#endif

/* Bytes of level 3: beyond each request, and at a region's start. */
#define HFIT_GUARD_A_BLOCK 8
#define HFIT_GUARD_SIZE ((12 + 4 * HFIT_QUARANTINE + 15) / 16 * 16)

/* At safety level 3: any 32 bits, a uint32_t, called once by `init` and by each free. Where it is
 * given the heap's canaries cannot be foretold, and blocks that wait leave in random order. */
#ifdef HFIT_RANDOM
#define HFIT_HAS_RANDOM 1
uint32_t(HFIT_RANDOM)(const void *heap); /* the function, if it is the name of one */
#else
#define HFIT_HAS_RANDOM 0
#define HFIT_RANDOM(heap) ((void)(heap), (uint32_t)0)
#endif

/* A call of the public functions, `init` and `smallest_region` apart, takes the lock once and
 * releases it once. Heaps behind pools are reached without: the heap in front holds it. */
#ifdef HFIT_LOCK
#define HFIT_HAS_LOCK 1
#else
#define HFIT_HAS_LOCK 0
#define HFIT_LOCK(heap) ((void)(heap))
#endif
#ifndef HFIT_UNLOCK
#define HFIT_UNLOCK(heap) ((void)(heap))
#endif

/* The aligned 32-bit word of metadata at this offset was loaded, or will be stored. The host engine
 * counts these. */
#ifndef HFIT_ON_LOAD
#define HFIT_ON_LOAD(heap, offset) ((void)0)
#endif
#ifndef HFIT_ON_STORE
#define HFIT_ON_STORE(heap, offset) ((void)0)
#endif

/* So many bytes of the caller's payload were copied or zeroed by us. */
#ifndef HFIT_ON_PAYLOAD
#define HFIT_ON_PAYLOAD(bytes) ((void)(bytes))
#endif

/* An invariant of our own, which holds whatever a caller does at safety level 1; a false one is a
 * bug in heapfit. By default the statement is compiled and not evaluated. */
#ifndef HFIT_ASSERT
#define HFIT_ASSERT(statement) ((void)sizeof((statement) ? 1 : 0))
#endif

/* One of these stands first in the body of a loop on the way of alloc, free or resize. The body is
 * run at most `times` times whenever the loop is entered; or once for each bit of `count`; or once
 * for each byte of payload that is moved or cleared. Defined or not, the code is the same to the
 * bit (docs/evidence/worst-case.md). */
#ifndef HFIT_LOOP_AT_MOST
#define HFIT_LOOP_AT_MOST(times) ((void)0)
#endif
#ifndef HFIT_LOOP_HALVES
#define HFIT_LOOP_HALVES(count) ((void)0)
#endif
#ifndef HFIT_LOOP_OF_PAYLOAD
#define HFIT_LOOP_OF_PAYLOAD() ((void)0)
#endif

/* 1: descriptors tell how much room requests need (reach, room_for in hfit/descriptor.h) where that
 * gives other code for the rest, too. For searches of a region; firmware asks nobody. */
#ifndef HFIT_TELLS_ROOM
#define HFIT_TELLS_ROOM 0
#endif

/* 1: where a plan chooses among code, each choice has a copy of its own. For hosts that serve any
 * plan; a build for one plan (hfit/plan_of_build.h) has no choices. */
#ifndef HFIT_HAS_COPIES
#define HFIT_HAS_COPIES 0
#endif

/* The caller handed in a block that cannot be freed or resized. The call changes nothing and
 * returns after this; `kind` is an hfit_misuse. */
#ifdef HFIT_ON_MISUSE
void(HFIT_ON_MISUSE)(const void *heap, unsigned kind, const void *pointer); /* likewise */
#else
#define HFIT_ON_MISUSE(heap, kind, pointer) ((void)(heap), (void)(kind), (void)(pointer))
#endif

/* Copies or clears `bytes` bytes. The default loops need -fno-tree-loop-distribute-patterns where
 * there is no memcpy and memset to link with, since gcc otherwise turns them into calls of these.
 */
#ifndef HFIT_COPY
#define HFIT_COPY(to, from, bytes) hfit_copy_bytes((to), (from), (bytes))
#endif
#ifndef HFIT_CLEAR
#define HFIT_CLEAR(to, bytes) hfit_clear_bytes((to), (bytes))
#endif

#endif
