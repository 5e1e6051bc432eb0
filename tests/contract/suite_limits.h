/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much the contract suite tries and the memory it takes to. A build for a machine with less of
 * both names a header of its own: -DCONTRACT_LIMITS='"my_limits.h"'.
 */
#ifndef SUITE_LIMITS_H
#define SUITE_LIMITS_H

#ifdef CONTRACT_LIMITS
#include CONTRACT_LIMITS
#else

enum {
    MOST_PLANS = 512,
    MOST_SHARED = 16,    /* allocators tried behind pools */
    PLAN_BYTES = 256,    /* of an allocator's plan struct */
    PLAN_NAME = 160,     /* bytes */
    TEST_INDEX = 520,    /* bytes of an index of pools; a plan that needs more has none */
    MOST_LIVE = 256,     /* blocks at once */
    CHURN_LIVE = 40,     /* of them, where many come and go */
    JUDGED_SIZES = 2000, /* requests below, where the chunk is judged */
    ODD_SIZES = 300,     /* tried around each size that overflows */
    ODDER_SIZES = 80,    /* tried around each power of two above a region */
    REGION_ALIGNMENT = 4096,
    LARGEST_REGION = 64 * 1024,
    LARGEST_SMALLEST_REGION = 32 * 1024, /* plans that need more are left out */
    SMALL_ROOM = 600,                    /* of a region, beyond the plan's smallest */
    MIDDLE_ROOM = 4096,
    LARGE_ROOM = 20000
};

/* Whether the suite runs on the plan of this number, from 0, among those that make a heap. */
#define IS_PLAN_WANTED(number) ((void)(number), true)

#endif

#endif
