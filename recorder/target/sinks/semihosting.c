/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to a file of the host, by semihosting (Arm "Semihosting for AArch32 and AArch64"; RISC-V
 * has taken it over). */
#include "sinks/sinks.h"

enum { SYS_OPEN = 1, SYS_WRITE = 5, OPEN_TO_WRITE_BYTES = 5 /* fopen's "wb" */ };

#if defined(__arm__)
static uintptr_t call_host(uintptr_t operation, const void *arguments) {
    register uintptr_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
#elif defined(__riscv)
/* The first three instructions must not be compressed and must lie in one page. The arguments are
 * where the call needs them. */
__attribute__((naked, noipa, aligned(16))) static uintptr_t call_host(uintptr_t operation,
                                                                      const void *arguments) {
    (void)operation;
    (void)arguments;
    __asm__ volatile(".option norvc\n"
                     "slli zero, zero, 0x1f\n"
                     "ebreak\n"
                     "srai zero, zero, 7\n"
                     "ret\n");
}
#else
#error "no semihosting for this processor: take another sink"
#endif

bool hfit_record_to_semihosting(void *unused, const void *bytes, size_t size) {
    static const char name[] = "heapfit.frames";
    static uintptr_t file; /* its handle; 0: not opened yet */
    (void)unused;
    if (file == 0) {
        static const struct {
            const char *name;
            uintptr_t how, length;
        } open = {name, OPEN_TO_WRITE_BYTES, sizeof name - 1};
        file = call_host(SYS_OPEN, &open); /* never 0; -1, to which no write succeeds */
    }
    const uintptr_t write[] = {file, (uintptr_t)bytes, size};
    return call_host(SYS_WRITE, write) == 0; /* bytes that were not written */
}
