/* SPDX-License-Identifier: Apache-2.0 */
/* The calls behind semihost.h. */
#include "board/semihost.h"

enum {
    SYS_OPEN = 0x01,
    SYS_WRITE0 = 0x04,
    SYS_READ = 0x06,
    SYS_GET_CMDLINE = 0x15,
    SYS_EXIT_EXTENDED = 0x20,
    OPEN_TO_READ_BYTES = 1,    /* fopen's "rb" */
    APPLICATION_EXIT = 0x20026 /* ADP_Stopped_ApplicationExit */
};

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
#error "no semihosting for this processor"
#endif

void semihost_command_line(char *line, size_t room) {
    const uintptr_t arguments[] = {(uintptr_t)line, room};
    if (call_host(SYS_GET_CMDLINE, arguments) != 0) {
        line[0] = 0;
    }
}

int semihost_open(const char *name) {
    size_t length = 0;
    while (name[length] != 0) {
        length++;
    }
    const uintptr_t arguments[] = {(uintptr_t)name, OPEN_TO_READ_BYTES, length};
    return (int)call_host(SYS_OPEN, arguments);
}

size_t semihost_read(int file, void *to, size_t bytes) {
    const uintptr_t arguments[] = {(uintptr_t)file, (uintptr_t)to, bytes};
    return bytes - call_host(SYS_READ, arguments);
}

void semihost_print(const char *text) {
    (void)call_host(SYS_WRITE0, text);
}

void semihost_print_count(const char *name, uint32_t value) {
    char digits[12];
    size_t at = sizeof digits;
    digits[--at] = 0;
    digits[--at] = '\n';
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    semihost_print(name);
    semihost_print(" ");
    semihost_print(digits + at);
}

void semihost_print_hash(const char *name, uint64_t value) {
    char digits[18];
    for (int i = 0; i < 16; i++) {
        digits[i] = "0123456789abcdef"[value >> (60 - 4 * i) & 15];
    }
    digits[16] = '\n';
    digits[17] = 0;
    semihost_print(name);
    semihost_print(" ");
    semihost_print(digits);
}

void semihost_exit(int code) {
    const uintptr_t arguments[] = {APPLICATION_EXIT, (uintptr_t)code};
    for (;;) {
        (void)call_host(SYS_EXIT_EXTENDED, arguments);
    }
}
