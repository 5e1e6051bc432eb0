/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to RAM, for a debugger to dump. */
#include "sinks/sinks.h"

bool hfit_record_to_memory(void *sink, const void *bytes, size_t size) {
    hfit_memory_sink *out = sink;
    const uint8_t *from = bytes;
    if (size > out->size - out->used) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        out->bytes[out->used + i] = from[i];
    }
    out->used += size;
    return true;
}
