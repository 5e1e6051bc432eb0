/* SPDX-License-Identifier: Apache-2.0 */
/* Does what `events` say to the C library's own heap on a Cortex-M3, and prints through semihosting
 * how far it grew. */
#include <stdint.h>
#include <stdlib.h>

enum { FREE = 4, RESIZE = 3, ROOM = 1 << 20, WRITE0 = 0x04, EXIT = 0x18 };

extern const uint32_t events[]; /* op, object, size */
extern const uint32_t event_count;
extern uint32_t stack_top;

static _Alignas(8) unsigned char room[ROOM];
static unsigned char *top = room;
static void *blocks[4096];

void *_sbrk(intptr_t bytes) {
    unsigned char *given = top;
    if (bytes > room + ROOM - top) {
        return (void *)-1;
    }
    top += bytes;
    return given;
}

static void ask_host(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print(uint32_t number) {
    char text[] = "          \n";
    char *digit = text + 10;
    do {
        *--digit = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    ask_host(WRITE0, text);
}

void reset(void) {
    for (uint32_t i = 0; i < event_count; i++) {
        const uint32_t op = events[3 * i];
        void **block = &blocks[events[3 * i + 1]];
        const uint32_t size = events[3 * i + 2];
        if (op == FREE || (op == RESIZE && size == 0)) {
            free(*block);
        } else {
            *block = op == RESIZE ? realloc(*block, size) : malloc(size == 0 ? 1 : size);
        }
    }
    print((uint32_t)(top - room));
    ask_host(EXIT, (const void *)0x20026);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &stack_top, (const void *)reset};
