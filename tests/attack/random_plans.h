/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of core's allocators at random: every scalar, pools of any sizes, and a heap behind them.
 */
#ifndef RANDOM_PLANS_H
#define RANDOM_PLANS_H

#include "attack/byte_source.h"
#include "plans.h"

/* A plan, and that of the heap behind its pools, if any. */
typedef struct random_plan {
    test_plan own;
    test_plan shared;
} random_plan;

/* Draws a plan of `allocator`, or of any if that is NULL. About one in thirty is malformed. The
 * plan points into itself, so it is not to be copied. */
void draw_plan(random_plan *plan, const hfit_allocator *allocator, byte_source *source);

#endif
