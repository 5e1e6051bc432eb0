/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The radio's other side: sixteen sensor nodes that send readings, reports and, now and then, a log
 * in one burst. What arrives at which tick follows from the seed alone; when it is served does not.
 */
#ifndef FIRMWARE_TRAFFIC_H
#define FIRMWARE_TRAFFIC_H

#include <stdint.h>

enum { NODES = 16 };

typedef enum frame_kind { FRAME_READING, FRAME_REPORT, FRAME_LOG, FRAME_SETTINGS } frame_kind;

/* What the receiver's hardware says of a frame. */
typedef struct arrival {
    uint8_t kind;
    uint8_t node;
    uint16_t length; /* bytes of payload */
} arrival;

void traffic_start(uint32_t seed);

/* The frame that arrives next in this tick; false: no more do. */
int traffic_next(uint32_t now, arrival *next);

/* A number from `least` to `most`, both included, for the server's next answer: from a stream of
 * its own, so that what arrives does not depend on when it is asked. */
uint32_t traffic_answer(uint32_t least, uint32_t most);

#endif
