/* SPDX-License-Identifier: Apache-2.0 */
/* Which memories a request is tried in. */
#ifndef HFIT_ROUTE_H
#define HFIT_ROUTE_H

#include "hfit/memories.h"

static inline hfit_route route_of(const hfit_memories_plan *plan, const hfit_request *request) {
    if (request->needs != 0) {
        return plan->of_needs;
    }
    if (request->tag != 0 && request->tag <= plan->tag_count && plan->by_tag[request->tag - 1]) {
        return plan->by_tag[request->tag - 1];
    }
    uint32_t i = 0;
    while (i + 1 < plan->size_count && request->size > plan->by_size[i].up_to) {
        i++;
    }
    return plan->by_size[i].route;
}

/* The number of the route's first memory that offers what is needed, which leaves the route with
 * all before it; memory_count if there is none. */
static inline uint32_t take_next(const hfit_memories_plan *plan, hfit_route *route,
                                 uint32_t needs) {
    while (*route != 0) {
        const uint32_t number = (*route & 15u) - 1;
        *route >>= 4;
        if (number < plan->memory_count && (needs & ~plan->memories[number].offers) == 0) {
            return number;
        }
    }
    return plan->memory_count;
}

#endif
