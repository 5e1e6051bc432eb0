/* SPDX-License-Identifier: Apache-2.0 */
/* SplitMix64 (Steele, Lea and Flood 2014): numbers at random, the same in every run. */
#ifndef SPLIT_MIX_H
#define SPLIT_MIX_H

#include <stddef.h>
#include <stdint.h>

static uint64_t random_state;

static inline uint64_t random_next(void) {
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline size_t random_below(size_t n) {
    return (size_t)(random_next() % n);
}

#endif
