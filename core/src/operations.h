/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of an allocator's operations, for the end of its source.
 *
 * The source defines HFIT_THIS(operation) as hfit_<name>_##operation before it includes this.
 */
#ifndef HFIT_OPERATIONS_H
#define HFIT_OPERATIONS_H

#define HFIT_OPERATIONS_TABLE                                                                      \
    {                                                                                              \
        .init = HFIT_THIS(init), .alloc = HFIT_THIS(alloc), .free = HFIT_THIS(free),               \
        .free_sized = HFIT_THIS(free_sized), .resize = HFIT_THIS(resize),                          \
        .alloc_aligned = HFIT_THIS(alloc_aligned), .usable_size = HFIT_THIS(usable_size),          \
        .walk = HFIT_THIS(walk), .check = HFIT_THIS(check), .footprint = HFIT_THIS(footprint),     \
        .smallest_region = HFIT_THIS(smallest_region)                                              \
    }

#endif
