/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocators that only a paper is reproduced with. They keep core's contract and are known by
 * name; lists of allocators to choose from leave them out.
 */
#ifndef PAPERS_REGISTRY_H
#define PAPERS_REGISTRY_H

#include "hfit/descriptor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the order of papers.def; stores how many there are. */
const hfit_allocator *const *hfit_papers(size_t *count);

#ifdef __cplusplus
}
#endif

#endif
