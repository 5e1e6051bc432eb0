/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane is one thread's way through the file: the chunk it writes into, and what its next record
 * is told against. No two threads have one lane at a time, so nothing here takes a lock.
 */
#ifndef HFIT_LANE_H
#define HFIT_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "site.h"
#include "wire.h"

typedef struct hfit_lane {
    unsigned char *next; /* where the next record begins */
    unsigned char *end;  /* of the chunk; as `next` where there is none */
    unsigned char *chunk;
    bool is_mapped_alone;    /* the chunk, which is then to be unmapped when it is full */
    uint32_t thread;         /* number of the thread whose lane this is */
    uint32_t generation;     /* of the process (wire_file.h) */
    struct hfit_lane *below; /* on the list of those that no thread has */
    uint64_t order;          /* of the chunk's last record, as the next four */
    uint64_t time;           /* us */
    uint64_t address;
    uint32_t sites[HFIT_WIRE_SITES];
} hfit_lane;

/* What a record tells, but for its order and time. */
typedef struct hfit_event {
    uint64_t address;
    uint64_t size;
    struct site site;
    uint8_t op; /* of enum hfit_wire_op */
    uint8_t alignment_log2;
} hfit_event;

/* Begins a chunk, which is all zero, for the thread of that number. */
void lane_enter_chunk(hfit_lane *lane, unsigned char *chunk, size_t size);

/* The lane is another thread's from now on. Needs lane_has_room. */
void lane_hand_over(hfit_lane *lane, uint32_t thread);

static inline bool lane_has_room(const hfit_lane *lane) {
    return (size_t)(lane->end - lane->next) >= HFIT_WIRE_LONGEST;
}

/* Writes a record and commits it. Needs lane_has_room; `order` rises from call to call. */
void lane_write(hfit_lane *lane, const hfit_event *event, uint64_t order, uint64_t time);

#endif
