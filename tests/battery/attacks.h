/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What callers do to heaps: sizes and alignments that overflow, bad frees, overruns.
 */
#ifndef BATTERY_ATTACKS_H
#define BATTERY_ATTACKS_H

#include "subject.h"

typedef struct attack {
    const char *id;
    const char *what;
    verdict (*make)(const subject *s);
    int refused_from; /* the safety level from which core must not let it pass; 0: every level */
} attack;

extern const attack attacks[];
extern const size_t attack_count;

#endif
