/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gcc may call in freestanding code, too: it does so to copy or clear a struct for a Cortex-M0
 * at -Os, -Og or -O0. Linked only where it is called.
 */
#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
    unsigned char *target = to;
    const unsigned char *source = from;
    for (size_t i = 0; i < bytes; i++) {
        target[i] = source[i];
    }
    return to;
}

void *memset(void *to, int value, size_t bytes) {
    unsigned char *target = to;
    for (size_t i = 0; i < bytes; i++) {
        target[i] = (unsigned char)value;
    }
    return to;
}
