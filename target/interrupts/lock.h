/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of a heap that interrupts use, too, as firmware for a Cortex-M defines it: no interrupt
 * is taken between the two. */
#ifndef TARGET_LOCK_H
#define TARGET_LOCK_H

#include <stdint.h>

static inline uint32_t mask_interrupts(void) {
    uint32_t before;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before) : : "memory");
    return before;
}

static inline void unmask_interrupts(uint32_t before) {
    __asm__ volatile("msr primask, %0" : : "r"(before) : "memory");
}

#define REPLAY_HEAP_LOCK() const uint32_t mask_before = mask_interrupts()
#define REPLAY_HEAP_UNLOCK() unmask_interrupts(mask_before)

#endif
