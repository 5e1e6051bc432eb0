/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap that keeps windows: after each call they hold the most and the least live bytes that a
 * plain list of all calls has, in windows that double. Prints them as docs/forecast.md does; the
 * first argument is the number of calls, a second one prints live bytes after each.
 */
#include "app_heap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 40, MOST_CALLS = 200000 };

static void *blocks[SLOTS];
static size_t live[MOST_CALLS]; /* after each call, in units */

static unsigned random_below(unsigned n) {
    static uint32_t state = 7;
    state = state * 1664525u + 1013904223u; /* Numerical Recipes' LCG */
    return (unsigned)((uint64_t)state * n >> 32);
}

static void fail(unsigned call, const char *what) {
    fprintf(stderr, "call %u: %s\n", call, what);
    exit(1);
}

static void check_window(unsigned call, unsigned start, unsigned end, uint32_t window) {
    size_t most = 0, least = SIZE_MAX;
    for (unsigned i = start; i < end; i++) {
        most = live[i] > most ? live[i] : most;
        least = live[i] < least ? live[i] : least;
    }
    if (start != end && (window >> 16 != most || (window & 0xffff) != least)) {
        fail(call, "a window is wrong");
    }
}

static void check_windows(unsigned calls) {
    const app_heap_windows *kept = app_heap_get_windows();
    const unsigned length = 1u << kept->doublings;
    if (kept->full * length + kept->calls != calls || kept->full >= APP_HEAP_WINDOW_COUNT) {
        fail(calls, "the windows hold other calls");
    }
    for (unsigned i = 0; i < kept->full; i++) {
        check_window(calls, i * length, (i + 1) * length, kept->words[i]);
    }
    if (kept->calls != 0) {
        check_window(calls, kept->full * length, calls, kept->words[kept->full]);
    }
}

static void print_windows(void) {
    const app_heap_windows *kept = app_heap_get_windows();
    printf("heap windows %u %u %u %u %u:", APP_HEAP_BYTES, 1u << APP_HEAP_WINDOW_UNIT,
           (unsigned)kept->full, (unsigned)kept->calls, (unsigned)kept->doublings);
    for (unsigned i = 0; i < APP_HEAP_WINDOW_COUNT; i++) {
        printf(" %u-%u", (unsigned)(kept->words[i] >> 16), (unsigned)(kept->words[i] & 0xffff));
    }
    printf("\n");
}

int main(int count, char **words) {
    const unsigned calls = count > 1 ? (unsigned)atoi(words[1]) : 1000;
    app_heap_counts counts;
    if (!app_heap_init() || calls > MOST_CALLS) {
        return 1;
    }
    for (unsigned i = 0; i < calls; i++) {
        void **block = &blocks[random_below(SLOTS)];
        if (*block == NULL) {
            *block = app_malloc(1 + random_below(600));
        } else {
            app_free(*block);
            *block = NULL;
        }
        app_heap_count(&counts);
        live[i] = counts.live >> APP_HEAP_WINDOW_UNIT;
        if (i % 97 == 0 || i + 1 == calls) {
            check_windows(i + 1);
        }
    }
    print_windows();
    for (unsigned i = 0; count > 2 && i < calls; i++) {
        printf("%u\n", (unsigned)(live[i] << APP_HEAP_WINDOW_UNIT));
    }
    return 0;
}
