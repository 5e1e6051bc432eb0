/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops that copy and clear the caller's bytes where a build does not name others: what
 * HFIT_COPY and HFIT_CLEAR of hfit/config.h stand for.
 */
#ifndef HFIT_PAYLOAD_H
#define HFIT_PAYLOAD_H

#include <stddef.h>

#include "hfit/config.h"

static inline void hfit_copy_bytes(void *to, const void *from, size_t bytes) {
    unsigned char *target = (unsigned char *)to;
    const unsigned char *source = (const unsigned char *)from;
    for (size_t i = 0; i < bytes; i++) {
        HFIT_LOOP_OF_PAYLOAD();
        target[i] = source[i];
    }
}

static inline void hfit_clear_bytes(void *to, size_t bytes) {
    unsigned char *target = (unsigned char *)to;
    for (size_t i = 0; i < bytes; i++) {
        HFIT_LOOP_OF_PAYLOAD();
        target[i] = 0;
    }
}

#endif
