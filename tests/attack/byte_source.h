/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions read from bytes, which a seed or a fuzzer gave: what is drawn once they are used up is
 * 0. */
#ifndef BYTE_SOURCE_H
#define BYTE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct byte_source {
    const uint8_t *next;
    size_t left;
} byte_source;

static inline uint32_t draw_byte(byte_source *source) {
    if (source->left == 0) {
        return 0;
    }
    source->left--;
    return *source->next++;
}

/* A number below `n`, which is not 0, of as few bytes as that takes. */
static inline uint32_t draw_below(byte_source *source, uint32_t n) {
    uint32_t drawn = 0;
    for (uint32_t most = n - 1; most != 0; most >>= 8) {
        drawn = drawn << 8 | draw_byte(source);
    }
    return drawn % n;
}

#endif
