/* SPDX-License-Identifier: Apache-2.0 */
/* What every board does after its first instructions. */
#ifndef TARGET_START_H
#define TARGET_START_H

/* Gives data their first values, runs main on the words of the command line and ends the
 * emulation with its result. */
_Noreturn void run_main(void);

/* Any trap: an image enables no interrupt, so this is a fault. */
_Noreturn void end_by_fault(void);

/* On Cortex-M: those three traps that an image may take itself. By default a fault ends it, and so
 * do PendSV and SysTick. */
void on_fault(void);
void on_pended(void);
void on_tick(void);

#endif
