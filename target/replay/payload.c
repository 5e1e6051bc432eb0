/* SPDX-License-Identifier: Apache-2.0 */
/* Payload is moved here and nowhere else. See image_config.h. */
#include "hfit/config.h"

void image_copy(void *to, const void *from, size_t bytes) {
    unsigned char *target = to;
    const unsigned char *source = from;
    for (size_t i = 0; i < bytes; i++) {
        HFIT_LOOP_OF_PAYLOAD();
        target[i] = source[i];
    }
}

void image_clear(void *to, size_t bytes) {
    unsigned char *target = to;
    for (size_t i = 0; i < bytes; i++) {
        HFIT_LOOP_OF_PAYLOAD();
        target[i] = 0;
    }
}
