/* SPDX-License-Identifier: Apache-2.0 */
/* Whole logarithms to the base 2, of any word but 0. */
#ifndef BASELINES_LOGARITHM_H
#define BASELINES_LOGARITHM_H

#include <stdint.h>

#include "hfit/compiler.h"

static inline uint32_t log2_down(uint32_t n) {
    return 31u - hfit_leading_zeros(n);
}

static inline uint32_t log2_up(uint32_t n) {
    return log2_down(n) + ((n & (n - 1)) != 0);
}

#endif
