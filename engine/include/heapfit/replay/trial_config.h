/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The build of core for trials of regions: it places every block where the metered build does, but
 * counts nothing and checks nothing, so that a search takes fewer instructions (plan.hpp).
 *
 * That is sound because a trial frees and resizes live blocks only (trace/follow.hpp).
 */
#ifndef HEAPFIT_TRIAL_CONFIG_H
#define HEAPFIT_TRIAL_CONFIG_H

#define HFIT_SAFETY 0
#define HFIT_TELLS_ROOM 1
#define HFIT_HAS_COPIES 1
#define HFIT_ON_MISUSE(heap, kind, pointer) ((void)(heap), (void)(kind), (void)(pointer))

#endif
