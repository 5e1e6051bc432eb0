/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to a ring that a debug probe empties. */
#include "sinks/sinks.h"

/* The host looks for the id all over RAM: it is written last, and no copy of it lies in ROM. */
static void begin(hfit_debugger_ring *ring) {
    static const char backwards[] = "TTR REGGES";
    ring->up_count = 1;
    ring->name = "heapfit";
    __asm__ volatile("" : : : "memory");
    for (size_t i = 0; i < sizeof backwards - 1; i++) {
        ring->id[i] = backwards[sizeof backwards - 2 - i];
    }
}

static size_t room_in(const hfit_debugger_ring *ring) {
    const uint32_t next = ring->next;
    const uint32_t read_at = ring->read_at;
    return (read_at > next ? 0 : ring->size) + read_at - next - 1;
}

bool hfit_record_to_debugger(void *sink, const void *bytes, size_t size) {
    hfit_debugger_ring *ring = sink;
    const uint8_t *from = bytes;
    if (ring->up_count == 0) {
        begin(ring);
    }
    if (room_in(ring) < size) {
        return false;
    }
    uint32_t next = ring->next;
    for (size_t i = 0; i < size; i++) {
        ring->buffer[next] = from[i];
        next = next + 1 == ring->size ? 0 : next + 1;
    }
    __asm__ volatile("" : : : "memory"); /* the bytes are there before the host may read them */
    ring->next = next;
    return true;
}
