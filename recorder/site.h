/* SPDX-License-Identifier: Apache-2.0 */
/* A name for the place a request comes from that is the same in every run. */
#ifndef HFIT_SITE_H
#define HFIT_SITE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

enum { SITE_DEPTH = HFIT_WIRE_CALLERS };

/* A request's place: the direct caller, or a chain of callers. */
struct site {
    uint32_t name;                /* of the whole chain; 0 = unknown */
    uint32_t callers[SITE_DEPTH]; /* each alone, innermost first; 0 = none, or not asked for */
};

/*
 * A hash, never 0, of a code address relative to the start of its module and of the module's
 * extent: address space randomisation does not change it, another build does. 0 = of no module
 * (generated code), or the C library cannot tell without a lock (before glibc 2.35).
 */
uint32_t caller_of(void *code);

/* Whether the code address lies in libstdc++.so; false where the C library cannot tell without a
 * lock.
 */
bool is_of_libstdcxx(void *code);

/*
 * The place of a call that returns to `code`: as caller_of, or, where the environment asks for
 * chains (HEAPFIT_SITE_DEPTH=4), of it and the three callers above it, as far as the stack can be
 * unwound. That takes about a microsecond, no lock and no memory from any heap.
 */
struct site site_of(void *code);

#endif
