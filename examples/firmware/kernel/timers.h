/* SPDX-License-Identifier: Apache-2.0 */
/* Timers in the order in which they are due, with no clock of their own. */
#ifndef FIRMWARE_TIMERS_H
#define FIRMWARE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct timer {
    struct timer *next;
    uint32_t due;
    void (*callback)(void *argument);
    void *argument;
} timer;

/* Behind all that are due at the same tick. Whoever adds owns the timer until it is taken. */
void timers_add(timer **first, timer *added);

/* The first, if it is due; else NULL. */
timer *timers_take(timer **first, uint32_t now);

static inline bool timers_are_due(const timer *first, uint32_t now) {
    return first && (int32_t)(now - first->due) >= 0;
}

#endif
