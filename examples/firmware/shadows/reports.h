/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twenty devices that report their state as JSON: a few values when these change, all of them once
 * a second. Devices sleep and wake. What is reported at which tick follows from the seed alone.
 */
#ifndef FIRMWARE_REPORTS_H
#define FIRMWARE_REPORTS_H

#include "text.h"

enum { DEVICES = 20 };

typedef struct report {
    uint32_t content; /* what its values are drawn from; never 0 */
    uint8_t device;
    bool is_whole; /* all values of the device */
} report;

void reports_start(uint32_t seed);

/* The report that arrives in this tick. False: none does. */
bool reports_next(uint32_t now, report *next);

/* {"id":7,"state":{...}} */
void report_put(text *to, const report *of);

/* Ticks until the server answers: from a stream of its own, so that what arrives does not depend on
 * when it is asked. */
uint32_t reports_answer(void);

#endif
