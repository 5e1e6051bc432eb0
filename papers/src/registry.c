/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the papers' allocators, made from papers.def. */
#include "papers/registry.h"

#define HFIT_ALLOCATOR(name) extern const hfit_allocator hfit_##name##_allocator;
#include "papers.def"
#undef HFIT_ALLOCATOR

static const hfit_allocator *const registered[] = {
#define HFIT_ALLOCATOR(name) &hfit_##name##_allocator,
#include "papers.def"
#undef HFIT_ALLOCATOR
    NULL,
};

const hfit_allocator *const *hfit_papers(size_t *count) {
    *count = sizeof registered / sizeof registered[0] - 1;
    return registered;
}
