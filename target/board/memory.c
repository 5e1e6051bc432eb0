/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What gcc may call in freestanding code, too: it does so to copy or clear a struct for a Cortex-M0
 * at -Os, -Og or -O0. Plug-ins call all four. Linked only where it is called.
 */
#include <stddef.h>
#include <stdint.h>

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

void *memmove(void *to, const void *from, size_t bytes) {
    unsigned char *target = to;
    const unsigned char *source = from;
    for (size_t i = 0; i < bytes; i++) {
        const size_t at = (uintptr_t)target < (uintptr_t)source ? i : bytes - 1 - i;
        target[at] = source[at];
    }
    return to;
}

int memcmp(const void *left, const void *right, size_t bytes) {
    const unsigned char *a = left;
    const unsigned char *b = right;
    for (size_t i = 0; i < bytes; i++) {
        if (a[i] != b[i]) {
            return a[i] - b[i];
        }
    }
    return 0;
}
