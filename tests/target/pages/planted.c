/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that lives on most heaps with a fault planted: planted KIND NUMBER, where KIND is
 *   c none                 w a write after free    l the same, some requests later
 *   d a second free        o an overrun            r a pointer read after free, and followed
 *   j the same, and called    f the same, and freed    u a write just before it
 *
 * and NUMBER moves the fault. It ends with 3 if it gets to its end after a fault, as if it died.
 */
#ifdef __arm__
#include "board/semihost.h"
#include "board/start.h"
#define END(status) semihost_exit(status)

#include "app_heap.h"

void on_fault(void) {
    (void)app_heap_check();
    end_by_fault();
}
#else
#define END(status) exit(status)
#endif

#include <stdlib.h>

enum { SLOTS = 24, STEPS = 400, FAULT_AT = 150, LATER = 12 };

static void *volatile held[SLOTS];
static void *volatile stale; /* freed */
static unsigned seed;

static unsigned draw(unsigned below) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

__attribute__((noinline)) static void asks(unsigned slot) {
    held[slot] = malloc(16 + draw(60));
    ((void *volatile *)held[slot])[1] = (void *)&seed;
    __asm__ volatile("");
}

__attribute__((noinline)) static void gives(void *block) {
    free(block);
    __asm__ volatile("");
}

static void step(void) {
    const unsigned slot = draw(SLOTS);
    if (held[slot] != NULL) {
        gives(held[slot]);
        held[slot] = NULL;
    } else {
        asks(slot);
    }
}

/* Plants the fault in a block of its own. */
static void plant(char kind, unsigned number) {
    volatile unsigned char *block;
    asks(0);
    block = held[0];
    held[0] = NULL;
    if (kind == 'o') {
        block = realloc((void *)block, 20);
        block[20 + number % 8] = 0;
        held[0] = (void *)block;
        return;
    }
    if (kind == 'u') {
        block[-1 - (int)number % 4] ^= 0x5a;
        held[0] = (void *)block;
        return;
    }
    gives((void *)block);
    if (kind == 'f') {
        gives(((void *volatile *)block)[1]);
    } else if (kind == 'w') {
        block[number % 16] = (unsigned char)number;
    } else if (kind == 'd' && number % 2 == 0) {
        gives((void *)block);
    } else if (kind == 'r') {
        seed += *((unsigned *volatile *)block)[1];
    } else if (kind == 'j') {
        ((void (*volatile *)(void))block)[1]();
    }
    stale = (void *)block;
}

int main(int count, char **words) {
    const char kind = count > 1 ? words[1][0] : 'c';
    const unsigned number = count > 2 ? (unsigned)atoi(words[2]) : 0;
    seed = number;
    for (unsigned i = 0; i < STEPS; i++) {
        step();
        if (i == FAULT_AT + number && kind != 'c') {
            plant(kind, number);
        }
        if (i == FAULT_AT + number + LATER && kind == 'l') {
            ((volatile unsigned char *)stale)[number % 16] = 1;
        }
        if (i == FAULT_AT + number + LATER && kind == 'd' && number % 2 == 1) {
            gives(stale);
        }
    }
    END(kind == 'c' ? 0 : 3);
}
