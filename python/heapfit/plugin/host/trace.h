/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording as the host reads it, written by heapfit/plugin/events.py: 12 bytes an event, in the
 * byte order of the machine.
 *
 *   0      4        8
 *   +------+--------+-------------------------------------------+
 *   | size | object | operation | log2 of its alignment << 8    |
 *   +------+--------+-------------------------------------------+
 */
#ifndef HOST_TRACE_H
#define HOST_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* The numbers of docs/evidence/schemas.md. */
typedef enum operation { OP_ALLOC, OP_ZEROED, OP_ALIGNED, OP_RESIZE, OP_FREE } operation;

typedef struct event {
    uint32_t size; /* what 32 bits do not hold is 2^32 - 1 */
    uint32_t object;
    uint32_t what;
} event;

typedef struct trace {
    const event *events;
    uint32_t count;
    uint32_t objects;   /* the highest number of one, and 1 */
    uint64_t most_live; /* bytes, where all is served: no smaller region can */
} trace;

static inline operation operation_of(event e) {
    return (operation)(e.what & 0xff);
}

static inline size_t alignment_of(event e) {
    return (size_t)1 << (e.what >> 8);
}

/* Reads a file; ends the program with a line on stderr if it cannot. */
trace open_trace(const char *path);

#endif
