/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as an image reads it, written by target/harness/packed_trace.py. Little-endian.
 *
 *   0       4        8        12       16                 24
 *   +-------+--------+--------+--------+--------+---------+---
 *   | magic | events | slots  | flags  | what   | size    | ...
 *   +-------+--------+--------+--------+--------+---------+---
 *
 * An object is known by its slot; a slot serves another object once its object was freed, so that
 * there are only as many as objects are ever live at once.
 */
#ifndef TARGET_PACKED_TRACE_H
#define TARGET_PACKED_TRACE_H

#include <stdint.h>

#define TRACE_MAGIC 0x31544648u /* HFT1 */

/* Flags. */
enum {
    TRACE_FREES_BY_SIZE = 1,     /* free_sized takes the place of free */
    TRACE_WRITES_AFTER_FREE = 2, /* the first word of each freed block is overwritten */
};

typedef struct trace_header {
    uint32_t magic;
    uint32_t events;
    uint32_t slots;
    uint32_t flags;
} trace_header;

typedef struct trace_event {
    uint32_t what; /* slot, then from bit 24 log2 of the alignment of an aligned request or the tag
                      of another, then from bit 29 the operation */
    uint32_t size; /* bytes asked for; what 32 bits do not hold is 2^32 - 1 */
} trace_event;

/* The numbers of docs/evidence/schemas.md. */
typedef enum trace_operation {
    TRACE_ALLOC,
    TRACE_ZEROED,
    TRACE_ALIGNED,
    TRACE_RESIZE,
    TRACE_FREE
} trace_operation;

static inline uint32_t slot_of(trace_event event) {
    return event.what & 0xffffff;
}

static inline uint32_t alignment_of(trace_event event) {
    return 1u << (event.what >> 24 & 31);
}

static inline uint32_t tag_of(trace_event event) {
    return event.what >> 24 & 31;
}

static inline trace_operation operation_of(trace_event event) {
    return (trace_operation)(event.what >> 29);
}

#endif
