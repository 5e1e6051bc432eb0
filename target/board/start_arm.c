/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M: the vector table, at address 0, and what it points to. */
#include "board/start.h"

#include <stdint.h>

extern uint32_t stack_end; /* sections.ld */

_Noreturn void start(void) {
    run_main();
}

/* What an image may have of its own. */
__attribute__((weak)) void on_fault(void) {
    end_by_fault();
}

__attribute__((weak, alias("on_fault"))) void on_pended(void);
__attribute__((weak, alias("on_fault"))) void on_tick(void);

typedef struct vector_table {
    uint32_t *stack;
    void (*reset)(void);
    void (*others[14])(void);
} vector_table;

__attribute__((section(".start"), used)) static const vector_table vectors = {
    .stack = &stack_end,
    .reset = start,
    .others = {on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault,
               on_fault, on_fault, on_fault, on_fault, on_pended, on_tick},
};
