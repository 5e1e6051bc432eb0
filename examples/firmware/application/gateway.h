/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gateway between sensor nodes and a server: what it keeps and hands on lies in the heap. There
 * are two: gateway.c hands records on, shadows/shadows.c keeps each device's state as a tree.
 */
#ifndef FIRMWARE_GATEWAY_H
#define FIRMWARE_GATEWAY_H

#include <stdbool.h>
#include <stdint.h>

/* What became of the traffic, and of the requests for memory. */
typedef struct gateway_counts {
    uint32_t frames;  /* that arrived */
    uint32_t dropped; /* for want of room in a mailbox */
    uint32_t refused; /* requests that the heap did not serve */
    uint32_t batches; /* that the server has acknowledged */
    uint32_t pages;   /* written */
} gateway_counts;

/* Makes the gateway's actors, for the traffic of a seed; false if the heap refuses. */
bool gateway_create(uint32_t seed);

/* To be called at each tick. */
void gateway_tick(uint32_t now);

gateway_counts gateway_counted(void);

#endif
