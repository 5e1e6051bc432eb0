/* SPDX-License-Identifier: Apache-2.0 */
/* A name for the place a request comes from that is the same in every run. */
#ifndef HFIT_SITE_H
#define HFIT_SITE_H

#include <stdint.h>

/*
 * A hash, never 0, of a code address relative to the start of its module and of the module's
 * extent: address space randomisation does not change it, another build does. 0 = of no module
 * (generated code), or the C library cannot tell without a lock (before glibc 2.35).
 */
uint32_t site_of(void *code);

#endif
