/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which plan a build serves. Here: any, the one that each call is given.
 *
 * A folder that `heapfit generate` writes has a file of its own in this place, which names the one
 * plan there is. What a plan holds is then known to the compiler, which leaves out what the plan
 * does not use; the plan that a call is given is not looked at.
 */
#ifndef HFIT_PLAN_OF_BUILD_H
#define HFIT_PLAN_OF_BUILD_H

/* 1 if the build serves just one plan of each allocator, which a generator wrote and sealed. */
#define HFIT_HAS_PLAN_OF_BUILD 0

/* The plan of the allocator whose source this is, for a call that was given `plan`. */
#define HFIT_PLAN_OF_BUILD(plan) (plan)

/* HFIT_REGION_OF_BUILD is defined in a build for one region, of so many bytes at most. */

#endif
