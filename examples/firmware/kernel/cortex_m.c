/* SPDX-License-Identifier: Apache-2.0 */
#include "board/start.h"
#include "processor.h"

enum { CLOCK_HZ = 25000000, PEND_SWITCH = 1u << 28, LOWEST_PRIORITY = 0xffu << 16, TICK_RUNS = 7 };
enum { FRAME_WORDS = 16, XPSR_THUMB = 1u << 24 };

static volatile uint32_t *const interrupt_control = (volatile uint32_t *)0xe000ed04;
static volatile uint32_t *const handler_priority_3 = (volatile uint32_t *)0xe000ed20;
static volatile uint32_t *const systick =
    (volatile uint32_t *)0xe000e010; /* control, reload, value */

/* As an interrupt would have left the registers: r4 to r11, then r0 to r3, r12, lr, pc, xpsr. */
uint32_t *first_frame(uint32_t *stack_end, void (*entry)(void *), void *argument) {
    uint32_t *const frame = stack_end - FRAME_WORDS;
    frame[8] = (uint32_t)argument;
    frame[13] = 0;
    frame[14] = (uint32_t)entry & ~1u;
    frame[15] = XPSR_THUMB;
    return frame;
}

void request_switch(void) {
    *interrupt_control = PEND_SWITCH;
}

void start_ticks(uint32_t per_second) {
    *handler_priority_3 |= LOWEST_PRIORITY;
    systick[1] = CLOCK_HZ / per_second - 1;
    systick[2] = 0;
    systick[0] = TICK_RUNS;
}

__attribute__((naked)) void on_pended(void) {
    __asm__ volatile("mrs r0, psp\n\t"
                     "stmdb r0!, {r4-r11}\n\t"
                     "push {r3, lr}\n\t"
                     "bl next_stack\n\t"
                     "pop {r3, lr}\n\t"
                     "ldmia r0!, {r4-r11}\n\t"
                     "msr psp, r0\n\t"
                     "bx lr");
}
