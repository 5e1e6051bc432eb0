/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to a UART, or to whatever takes one character after the other. */
#include "sinks/sinks.h"

bool hfit_record_to_characters(void *sink, const void *bytes, size_t size) {
    const hfit_character_sink *out = sink;
    const uint8_t *next = bytes;
    for (const uint8_t *end = next + size; next < end; next++) {
        (void)out->put(*next);
    }
    return true;
}
