/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log of the heap, a state each hundred ticks, until a request is refused; and, for forecasts to
 * be judged, faults: at each state LEAK bytes that nobody frees, and at each PINS-th a small block
 * that stays near the end of the largest free one, and breaks it up.
 *
 * Linked with --wrap=pvPortMalloc.
 */
#include "board/semihost.h"
#include "freertos/FreeRTOS.h"
#include "hooks.h"
#include "random.h"

enum { PERIOD = 100 /* ticks */, TICKS_A_SECOND = 1000, PIN = 16 };

void *__real_pvPortMalloc(size_t size);
void *__wrap_pvPortMalloc(size_t size);

static uint32_t gaps = 0x9e3779b9u; /* random numbers */
static size_t least = SIZE_MAX;     /* ever free, at the calls and states */

static void put_number(char **end, const char *name, uint32_t value, unsigned digits) {
    while (*name) {
        *(*end)++ = *name++;
    }
    char reversed[10];
    unsigned count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value || count < digits);
    while (count) {
        *(*end)++ = reversed[--count];
    }
}

static HeapStats_t look(void) {
    HeapStats_t stats = {0};
    vPortGetHeapStats(&stats);
    if (stats.xAvailableHeapSpaceInBytes < least) {
        least = stats.xAvailableHeapSpaceInBytes;
    }
    return stats;
}

static void print_state(size_t refused) {
    const HeapStats_t stats = look();
    const uint32_t now = kernel_now();
    char line[160], *end = line;
    put_number(&end, "[", now / TICKS_A_SECOND, 1);
    put_number(&end, ".", now % TICKS_A_SECOND, 3);
    put_number(&end, "] free heap ", (uint32_t)stats.xAvailableHeapSpaceInBytes, 1);
    put_number(&end, ", minimum ", (uint32_t)least, 1);
    put_number(&end, ", largest block ", (uint32_t)stats.xSizeOfLargestFreeBlockInBytes, 1);
    if (refused) {
        put_number(&end, ", failed ", (uint32_t)refused, 1);
    }
    *end++ = '\n';
    *end = '\0';
    semihost_print(line);
}

void *__wrap_pvPortMalloc(size_t size) {
    void *const block = __real_pvPortMalloc(size);
    if (!block) {
        print_state(size);
        semihost_exit(0);
    }
    (void)look();
    return block;
}

/* A small block that stays, 200 to 800 B before the end of the largest free one; what lies lower is
 * taken as long, since the heap would put it there. */
static void pin(void) {
    const size_t gap = draw_between(&gaps, 200, 800);
    const size_t largest = look().xSizeOfLargestFreeBlockInBytes;
    void *const below = largest > gap ? __real_pvPortMalloc(largest - gap) : NULL;
    void *lower = NULL; /* a list */
    for (void **one; below && (one = __real_pvPortMalloc(PIN)) && (void *)one < below;
         lower = one) {
        *one = lower;
    }
    while (lower) {
        void *const next = *(void **)lower;
        vPortFree(lower);
        lower = next;
    }
    vPortFree(below);
}

void idle_hook(void) {
    const uint32_t now = kernel_now();
    if (now % PERIOD) {
        return;
    }
    if (LEAK) {
        (void)pvPortMalloc(LEAK);
    }
    if (PINS && now % (PERIOD * (PINS ? PINS : 1)) == 0) {
        pin();
    }
    print_state(0);
}
