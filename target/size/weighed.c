/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan's tables, beside which core's functions are linked to be weighed. With FEW(operation), the
 * name of the shared allocator's function, the table of its operations has only those that init,
 * alloc and free of pools call: few_operations, which the compiler's command puts in the place of
 * the allocator's own table.
 */
#include "replay_heap.c"

#ifdef FEW
const hfit_operations few_operations = {
    .init = FEW(init),
    .alloc = FEW(alloc),
    .free = FEW(free),
    .smallest_region = FEW(smallest_region),
};
#endif

const hfit_plan *weighed_plan(void) {
    return plan();
}
