/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording may not ask, done to the plug-in in a region of its own: sizes and alignments
 * that overflow, whether freed memory comes back, and then misuse. ATTACKS, MISUSES and
 * EXTREMES in heapfit/plugin/faults.py have them in the order of attacks.c. One that a heap gives
 * no room for tells neither a fault nor that it ran.
 */
#ifndef HOST_ATTACKS_H
#define HOST_ATTACKS_H

#include <stddef.h>

/* In the child, which has made the region. Stops at a fault; else tells that it runs. */
void attack(unsigned number, size_t alignment);

#endif
