/* SPDX-License-Identifier: Apache-2.0 */
/* A program that asks its C library, whose heap is a generated one; ends with 0 if all blocks are
 * that one's. */
#define _GNU_SOURCE /* asprintf */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app_heap.h"
#include "board/semihost.h"

enum { STEPS = 2000, SLOTS = 30, LARGEST = 300 };

int posix_memalign(void **block, size_t alignment, size_t size); /* newlib declares it for some */

static unsigned char *blocks[SLOTS];

static unsigned random_below(unsigned limit) {
    static unsigned state = 1;
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % limit;
}

static unsigned char *allocated(unsigned way, size_t size) {
    if (way == 0) {
        return calloc(2, size / 2);
    }
    if (way == 2) {
        void *block = NULL;
        return posix_memalign(&block, 16, size) == 0 ? block : NULL;
    }
    return way == 1 ? memalign(64, size) : way == 3 ? aligned_alloc(32, size) : malloc(size);
}

/* True if what the slot then has is a block of the generated heap, or nothing. */
static int step(unsigned slot) {
    const unsigned way = random_below(5);
    const size_t size = 2 + 2 * random_below(LARGEST / 2);
    if (blocks[slot] == NULL) {
        blocks[slot] = allocated(way, size);
    } else if (way == 0) {
        blocks[slot] = realloc(blocks[slot], size);
    } else {
        free(blocks[slot]);
        blocks[slot] = NULL;
        return 1;
    }
    memset(blocks[slot], 0xa5, size);
    return app_usable_size(blocks[slot]) >= size && app_heap_check();
}

/* The library's own requests, too: a number is formatted on its heap. */
static int library_asks_it(void) {
    char *text = NULL;
    const int length = asprintf(&text, "%d of %s", 7, "its heap");
    const int is_ours = length == 13 && app_usable_size(text) >= 14;
    free(text);
    return is_ours;
}

int main(void) {
    for (unsigned i = 0; i < STEPS; i++) {
        if (!step(random_below(SLOTS))) {
            return 1;
        }
    }
    if (malloc(1 << 20) != NULL || !library_asks_it()) {
        return 2;
    }
    semihost_print("all blocks are its own\n");
    return 0;
}
