/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers at random, the same in every run. */
#ifndef RANDOM_NUMBER_H
#define RANDOM_NUMBER_H

#include <stdint.h>

static uint32_t random_state;

/* Numerical Recipes' LCG. */
static inline uint32_t random_below(uint32_t n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)random_state * n >> 32);
}

#endif
