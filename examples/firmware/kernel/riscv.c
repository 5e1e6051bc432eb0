/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks and switches are interrupts of the board's CLINT (QEMU's virt, as SiFive's FE310). */
#include "board/start.h"
#include "processor.h"

#include <stddef.h>

enum {
    CLOCK_HZ = 10000000,
    FRAME_WORDS = 32,
    ARGUMENT_AT = 8,
    ENTRY_AT = 28,
    STATUS_AT = 29,
    INTERRUPTED_STATUS = 0x1880, /* mstatus: machine mode before, interrupts then on */
    SWITCH = 3,                  /* mcause of machine software interrupts */
    TICK = 7,                    /* and of the timer's */
    SWITCH_AND_TICK = 1 << SWITCH | 1 << TICK,
    TRAP_STACK_WORDS = 256,
};
#define INTERRUPT 0x80000000u

static volatile uint32_t *const software_interrupt = (volatile uint32_t *)0x02000000;
static volatile uint32_t *const due = (volatile uint32_t *)0x02004000; /* low and high word */
static volatile uint32_t *const clock = (volatile uint32_t *)0x0200bff8;

void trapped(void); /* riscv_trap.S */
uint32_t *on_trap(uint32_t *saved, uint32_t cause);

uint32_t trap_stack[TRAP_STACK_WORDS] __attribute__((aligned(16)));
_Static_assert(sizeof trap_stack == 1024 && FRAME_WORDS == 32, "as riscv_trap.S has it");

static uint64_t next_tick;
static uint32_t period;

uint32_t *first_frame(uint32_t *stack_end, void (*entry)(void *), void *argument) {
    uint32_t *const frame = (uint32_t *)((uintptr_t)stack_end & ~(uintptr_t)15) - FRAME_WORDS;
    frame[ARGUMENT_AT] = (uint32_t)argument;
    frame[ENTRY_AT] = (uint32_t)entry;
    frame[STATUS_AT] = INTERRUPTED_STATUS;
    return frame;
}

void request_switch(void) {
    *software_interrupt = 1;
}

/* The high word is out of reach meanwhile, so that no time between is due. */
static void await_tick(void) {
    next_tick += period;
    due[1] = UINT32_MAX;
    due[0] = (uint32_t)next_tick;
    due[1] = (uint32_t)(next_tick >> 32);
}

/* Called on the traps' stack; returns the stack to go on with. */
uint32_t *on_trap(uint32_t *saved, uint32_t cause) {
    if (cause == (INTERRUPT | TICK)) {
        await_tick();
        on_tick();
        return saved;
    }
    if (cause != (INTERRUPT | SWITCH)) {
        end_by_fault();
    }
    *software_interrupt = 0;
    return next_stack(saved);
}

void start_ticks(uint32_t per_second) {
    period = CLOCK_HZ / per_second;
    next_tick = (uint64_t)clock[1] << 32 | clock[0];
    await_tick();
    __asm__ volatile("csrw mtvec, %0\n\tcsrw mie, %1\n\tcsrs mstatus, %2"
                     :
                     : "r"(trapped), "r"(SWITCH_AND_TICK), "r"(INTERRUPTS_ON)
                     : "memory");
}
