/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator of heapfit's own, given as a plug-in: what is measured of it must be what the engine
 * measures. Built with -DNAME=tlsf and the allocator's source.
 */
#include "heapfit_plugin.h"

#include "hfit/best_fit.h"
#include "hfit/tlsf.h"

#define JOINED(name, operation) hfit_##name##_##operation
#define NAMED(name, operation) JOINED(name, operation)
#define OWN(operation) NAMED(NAME, operation)
#define PLAN_JOINED(name) hfit_##name##_plan
#define PLAN_NAMED(name) PLAN_JOINED(name)

static const PLAN_NAMED(NAME) PLAN = PLAN_VALUES;

void *plugin_init(void *region, size_t size, size_t alignment) {
    return alignment == PLAN.common.alignment ? OWN(init)(region, size, &PLAN.common) : NULL;
}

void *plugin_alloc(void *heap, size_t size) {
    return OWN(alloc)(heap, &PLAN.common, size);
}

void *plugin_alloc_aligned(void *heap, size_t alignment, size_t size) {
    return OWN(alloc_aligned)(heap, &PLAN.common, alignment, size);
}

void *plugin_resize(void *heap, void *block, size_t size) {
    return OWN(resize)(heap, &PLAN.common, block, size);
}

void plugin_free(void *heap, void *block) {
    OWN(free)(heap, &PLAN.common, block);
}
