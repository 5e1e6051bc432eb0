/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocators heapfit compares against: written afresh from published descriptions, under the
 * same contract as core's, on the host only.
 */
#ifndef BASELINES_REGISTRY_H
#define BASELINES_REGISTRY_H

#include "hfit/descriptor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The baselines in the order of baselines.def; stores how many there are. */
const hfit_allocator *const *hfit_baselines(size_t *count);

#ifdef __cplusplus
}
#endif

#endif
