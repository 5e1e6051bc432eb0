/* SPDX-License-Identifier: Apache-2.0 */
/* Armv7-M, "System Control Space" and "SysTick". */
#ifndef FIRMWARE_CORTEX_M_H
#define FIRMWARE_CORTEX_M_H

#include <stdint.h>

static inline uint32_t mask_interrupts(void) {
    uint32_t before;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before) : : "memory");
    return before;
}

static inline void unmask_interrupts(uint32_t before) {
    __asm__ volatile("msr primask, %0\n\tisb" : : "r"(before) : "memory");
}

static inline void wait_for_interrupt(void) {
    __asm__ volatile("wfi");
}

/* From now on the caller, which must not return, runs on a stack of its own; interrupts stay on
 * that of the board's start. */
static inline __attribute__((always_inline)) void run_on_stack(uint32_t *end) {
    __asm__ volatile("msr psp, %0\n\tmovs r0, #2\n\tmsr control, r0\n\tisb"
                     :
                     : "r"(end)
                     : "r0", "memory");
}

#endif
