/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for the world outside: streams that follow from a seed alone. */
#ifndef FIRMWARE_RANDOM_H
#define FIRMWARE_RANDOM_H

#include <stdint.h>

/* A stream's state is never 0. Knuth's multiplicative hash. */
static inline uint32_t stream_of(uint32_t seed) {
    return seed * 2654435761u | 1u;
}

/* Marsaglia, "Xorshift RNGs" (2003), with the shifts 13, 17, 5. */
static inline uint32_t draw_from(uint32_t *stream) {
    *stream ^= *stream << 13;
    *stream ^= *stream >> 17;
    *stream ^= *stream << 5;
    return *stream;
}

/* From `least` to `most`, both included. */
static inline uint32_t draw_between(uint32_t *stream, uint32_t least, uint32_t most) {
    return least + draw_from(stream) % (most - least + 1);
}

#endif
