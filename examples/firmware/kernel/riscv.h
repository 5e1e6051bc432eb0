/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V in machine mode, "Volume II: Privileged Architecture", 3.1. */
#ifndef FIRMWARE_RISCV_H
#define FIRMWARE_RISCV_H

#include <stdint.h>

enum { INTERRUPTS_ON = 8 }; /* mstatus.MIE */

static inline uint32_t mask_interrupts(void) {
    uint32_t before;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before) : : "memory");
    return before & INTERRUPTS_ON;
}

static inline void unmask_interrupts(uint32_t before) {
    __asm__ volatile("csrs mstatus, %0" : : "r"(before) : "memory");
}

static inline void wait_for_interrupt(void) {
    __asm__ volatile("wfi");
}

/* From now on the caller, which must not return, runs on a stack of its own; interrupts have one of
 * theirs. */
static inline __attribute__((always_inline)) void run_on_stack(uint32_t *end) {
    __asm__ volatile("mv sp, %0" : : "r"(end) : "memory");
}

#endif
