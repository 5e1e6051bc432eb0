/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program on a C library's heap, recorded by recorder/target: it prints each of its requests as a
 * line of the text form (docs/import-formats.md) and leaves frames in the file heapfit.frames.
 */
#include <malloc.h>
#include <stdlib.h>

#include "adapters/one_heap.h"
#include "board/semihost.h"
#include "sinks/sinks.h"

enum { STEPS = 600, SLOTS = 24, LARGEST = 300, ALIGNMENT = 64 };

static void *blocks[SLOTS];
static unsigned random_state = 1;

static unsigned random_below(unsigned limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static void print_number(unsigned value) {
    char digits[12];
    char *at = digits + sizeof digits - 1;
    *at = 0;
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    semihost_print(" ");
    semihost_print(at);
}

static void print_event(const char *what, unsigned slot, unsigned size) {
    semihost_print(what);
    print_number(slot);
    if (what[0] != 'f') {
        print_number(size);
    }
    if (what[0] == 'm') {
        print_number(ALIGNMENT);
    }
    semihost_print("\n");
}

static void *allocated(unsigned way, unsigned size) {
    switch (way) {
    case 0:
        return calloc(2, size / 2);
    case 1:
        return memalign(ALIGNMENT, size);
    default:
        return malloc(size);
    }
}

static void step(void) {
    static const char *const names[] = {"c", "m", "a", "a", "a"};
    const unsigned slot = random_below(SLOTS);
    const unsigned size = 2 + 2 * random_below(LARGEST / 2);
    const unsigned way = random_below(5);
    if (blocks[slot] == NULL) {
        print_event(names[way], slot, size);
        blocks[slot] = allocated(way, size);
    } else if (way == 0) {
        print_event("r", slot, size);
        blocks[slot] = realloc(blocks[slot], size);
    } else {
        print_event("f", slot, 0);
        free(blocks[slot]);
        blocks[slot] = NULL;
    }
}

int main(void) {
    for (unsigned i = 0; i < STEPS; i++) {
        step();
        (void)hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL);
    }
    hfit_record_close_frame(&hfit_one_heap);
    return hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL) ? 0 : 1;
}
