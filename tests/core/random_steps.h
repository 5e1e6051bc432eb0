/* SPDX-License-Identifier: Apache-2.0 */
/* Random requests that reach all bins and all depths of tries. */
#ifndef RANDOM_STEPS_H
#define RANDOM_STEPS_H

#include "random_number.h"

/* What a number of steps finds the release builds find: sanitizers see in fewer what only they can.
 */
#ifdef __SANITIZE_ADDRESS__
enum { STEPS_SHARE = 4 };
#else
enum { STEPS_SHARE = 1 };
#endif

/* Small ones, equal ones, and any up to `most`. */
static uint32_t random_size(uint32_t most) {
    switch (random_below(4)) {
    case 0:
        return random_below(200);
    case 1:
        return 100 + 40 * random_below(8);
    case 2:
        return random_below(1500);
    default:
        return random_below(most);
    }
}

typedef struct step {
    uint32_t kind;
    uint32_t alignment;
    uint32_t size;
} step;

static step random_step(uint32_t most) {
    return (step){random_below(8), 16u << random_below(4), random_size(most)};
}

#endif
