/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V: the first instructions, at the start of ROM, and the trap handler. */
#include "board/start.h"

__attribute__((aligned(4), used)) static void trapped(void) {
    end_by_fault();
}

__attribute__((naked, section(".start"))) void start(void) {
    __asm__ volatile("la sp, stack_end\n"
                     "la t0, trapped\n"
                     "csrw mtvec, t0\n"
                     "j run_main\n");
}
