/* SPDX-License-Identifier: Apache-2.0 */
/* What every board does after its first instructions. */
#ifndef TARGET_START_H
#define TARGET_START_H

/* Gives data their first values, runs main on the words of the command line and ends the
 * emulation with its result. */
_Noreturn void run_main(void);

/* Any trap: an image enables no interrupt, so this is a fault. */
_Noreturn void end_by_fault(void);

#endif
