/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the contract suite tries on a board; tests/contract/suite_limits.h says what each word
 * means.
 *
 * On boards with megabytes there are as many live blocks as on the host; regions are smaller, which
 * leaves out plans that take more than 8 KiB to begin with, and fewer odd sizes are tried, since
 * each call hashes the region. CONTRACT_SMALL is for 16 KB of RAM: small regions,
 * few live blocks, and the plans in as many runs as there are parts, since each plan takes memory.
 */
#ifndef TARGET_BOARD_LIMITS_H
#define TARGET_BOARD_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

bool is_plan_in_part(size_t number); /* part.c */

#define IS_PLAN_WANTED(number) is_plan_in_part(number)

#ifdef CONTRACT_SMALL
enum {
    MOST_PLANS = 4,
    MOST_SHARED = 2,
    PLAN_BYTES = 80,
    PLAN_NAME = 72,
    TEST_INDEX = 16,
    MOST_LIVE = 20,
    CHURN_LIVE = 12,
    JUDGED_SIZES = 48,
    ODD_SIZES = 8,
    ODDER_SIZES = 2,
    REGION_ALIGNMENT = 64,
    LARGEST_REGION = 4608,
    LARGEST_SMALLEST_REGION = 3400,
    SMALL_ROOM = 300,
    MIDDLE_ROOM = 800,
    LARGE_ROOM = 1200
};
#else
enum {
    MOST_PLANS = 512,
    MOST_SHARED = 16,
    PLAN_BYTES = 256,
    PLAN_NAME = 160,
    TEST_INDEX = 520,
    MOST_LIVE = 256,
    CHURN_LIVE = 40,
    JUDGED_SIZES = 2000,
    ODD_SIZES = 4,
    ODDER_SIZES = 2,
    REGION_ALIGNMENT = 4096,
    LARGEST_REGION = 64 * 1024,
    LARGEST_SMALLEST_REGION = 8 * 1024,
    SMALL_ROOM = 600,
    MIDDLE_ROOM = 1500,
    LARGE_ROOM = 5000
};
#endif

#endif
