/* SPDX-License-Identifier: Apache-2.0 */
/* What every board does between its first instruction and main. */
#ifndef TARGET_START_H
#define TARGET_START_H

#include "board/semihost.h"

#include <stdint.h>

extern uint32_t data_start, data_end, data_in_rom, bss_start, bss_end; /* sections.ld */

int main(void);

/* Copies first values, clears the rest, runs main and ends the emulation with its result. */
static inline _Noreturn void run_main(void) {
    const uint32_t *from = &data_in_rom;
    for (uint32_t *to = &data_start; to < &data_end; to++) {
        *to = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end; to++) {
        *to = 0;
    }
    semihost_exit(main());
}

/* Any trap: an image enables no interrupt, so this is a fault. */
static inline _Noreturn void end_by_fault(void) {
    semihost_print("fault\n");
    semihost_exit(3);
}

#endif
