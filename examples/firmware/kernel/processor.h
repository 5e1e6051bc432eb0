/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel needs of the processor that it is built for. */
#ifndef FIRMWARE_PROCESSOR_H
#define FIRMWARE_PROCESSOR_H

#include <stdint.h>

/* What is left of the stack of a task that has not run yet: as if it had been interrupted before
 * its first instruction. */
uint32_t *first_frame(uint32_t *stack_end, void (*entry)(void *), void *argument);

/* Has tasks switched as soon as no interrupt is served or masked. */
void request_switch(void);

/* Calls on_tick so often a second, and puts the switch behind every other interrupt. */
void start_ticks(uint32_t per_second);

/* The kernel's answers: to a tick, and to a switch with the stack of the task that ran, the stack
 * of the next. */
void on_tick(void);
uint32_t *next_stack(uint32_t *saved);

/* mask_interrupts, unmask_interrupts, wait_for_interrupt, run_on_stack */
#if defined(__arm__)
#include "cortex_m.h" // IWYU pragma: export
#else
#include "riscv.h" // IWYU pragma: export
#endif

#endif
