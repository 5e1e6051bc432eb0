/* SPDX-License-Identifier: Apache-2.0 */
/* A Cortex-M3 with FreeRTOS's handlers, and the first UART of an MPS2 board. */
#include "app.h"
#include "board/semihost.h"
#include "board/start.h"

enum { RAM = 0x20000000, RAM_SIZE = 0x40000, SYS_OPEN = 1, SYS_WRITE = 5 };

extern uint32_t stack_end; /* sections.ld */

_Noreturn void start(void) {
    run_main();
}

__attribute__((weak)) void on_fault(void) {
    end_by_fault();
}
__attribute__((weak)) void vPortSVCHandler(void) {
    end_by_fault();
}
__attribute__((weak)) void xPortPendSVHandler(void) {
    end_by_fault();
}
__attribute__((weak)) void xPortSysTickHandler(void) {
    end_by_fault();
}

__attribute__((section(".start"), used)) static const struct {
    uint32_t *stack;
    void (*handlers[15])(void);
} vectors = {&stack_end,
             {start, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault, on_fault,
              on_fault, vPortSVCHandler, on_fault, on_fault, xPortPendSVHandler,
              xPortSysTickHandler}};

int put_byte(int byte) {
    volatile uint32_t *const uart = (volatile uint32_t *)0x40004000; /* data, state, control */
    uart[4] = 16;
    uart[2] = 1;
    while ((uart[1] & 1) != 0) {
    }
    uart[0] = (uint32_t)byte;
    return byte;
}

static uintptr_t call_host(uintptr_t operation, const void *arguments) {
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void app_end(void) {
    static const char name[] = "ram.bin";
    const uintptr_t open[] = {(uintptr_t)name, 5, sizeof name - 1};
    const uintptr_t write[] = {call_host(SYS_OPEN, open), RAM, RAM_SIZE};
    semihost_exit(call_host(SYS_WRITE, write) == 0 ? 0 : 1);
}
