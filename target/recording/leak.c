/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A firmware that leaks, on a C library's heap and recorded with call sites: it answers requests
 * out of a window of replies, and forgets one entry of its cache in each 100. All of it asks for
 * memory through one function, which tells who called it.
 */
#include <stdlib.h>

#include "adapters/one_heap.h"
#include "sinks/sinks.h"

enum { REQUESTS = 8000, WINDOW = 16 };

static unsigned random_state = 1;
static void *window[WINDOW];
static void *volatile forgotten;

static unsigned random_below(unsigned limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

__attribute__((noinline)) static void *memory(unsigned size) {
    hfit_record_site(&hfit_one_heap, __builtin_return_address(0));
    return malloc(size);
}

static void answer(void) {
    const unsigned slot = random_below(WINDOW);
    free(window[slot]);
    window[slot] = memory(16 + 4 * random_below(60));
}

__attribute__((noinline)) static void cache(void) {
    forgotten = memory(20 + 4 * random_below(4));
}

int main(void) {
    for (unsigned i = 0; i < REQUESTS; i++) {
        answer();
        if (i % 100 == 0) {
            cache();
        }
        (void)hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL);
    }
    hfit_record_close_frame(&hfit_one_heap);
    return hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL) ? 0 : 1;
}
