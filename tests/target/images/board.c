/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses a heap, prints each request and what it gave, and stops at a moment, so that
 * its memory can be dumped:
 *
 *     a ADDRESS SIZE    given       r SIZE    refused
 *     f ADDRESS         freed       l ADDRESS    its only pointer is forgotten
 *
 * Command line: board MOMENT, 's' after the start-up, 'p' at the peak, 'r' after a refusal.
 */
#include <stddef.h>
#include <stdint.h>

#include "board/semihost.h"
#include "heap.h"
#ifdef RECORDED
#include "adapters/one_heap.h"
#include "sinks/sinks.h"
#endif

enum { SLOTS = 40, STARTED = 10, LOST = 5, LARGEST = 300, STEPS = 500 };

typedef struct node {
    void (*run)(void);
    struct node *next; /* the middle of the one before */
    char text[12];
} node;

void stopped(void);

static void *slots[SLOTS];
static node *nodes;
static uint32_t random_state = 7;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static void say(const char *what, uint32_t first, uint32_t second) {
    char line[48];
    size_t at = 0;
    line[at++] = what[0];
    for (int word = 0; word < 2; word++) {
        line[at++] = ' ';
        for (int shift = 28; shift >= 0; shift -= 4) {
            line[at++] = "0123456789abcdef"[(word == 0 ? first : second) >> shift & 15];
        }
    }
    line[at++] = '\n';
    line[at] = 0;
    semihost_print(line);
}

__attribute__((noinline)) static void *take(uint32_t size) {
#ifdef RECORDED
    hfit_record_site(&hfit_one_heap, __builtin_return_address(0));
#endif
    unsigned char *block = heap_take(size);
    if (block == NULL) {
        say("r", size, 0);
        return NULL;
    }
    say("a", (uint32_t)(uintptr_t)block, size);
    for (uint32_t i = 0; i < size; i++) {
        block[i] = (unsigned char)(0x80 + i); /* no pointer, no size */
    }
    return block;
}

static void give(void *block) {
    say("f", (uint32_t)(uintptr_t)block, 0);
    heap_give(block);
}

__attribute__((noinline)) void stopped(void) {
#ifdef RECORDED
    hfit_record_close_frame(&hfit_one_heap);
    (void)hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL);
#endif
    semihost_print("stopped\n");
    for (;;) {
    }
}

__attribute__((noinline)) static void start_up(void) {
    for (uint32_t i = 0; i < STARTED; i++) {
        node *one = take(sizeof *one);
        one->run = stopped;
        one->next = nodes == NULL ? NULL : (node *)(void *)((char *)nodes + 8);
        nodes = one;
    }
    for (uint32_t i = 0; i < LOST; i++) {
        say("l", (uint32_t)(uintptr_t)take(20 + 12 * i), 0);
    }
}

__attribute__((noinline)) static void grow(void) {
    for (uint32_t i = 0; i < SLOTS; i++) {
        slots[i] = take(1 + random_below(LARGEST));
    }
}

__attribute__((noinline)) static void change(void) {
    for (uint32_t i = 0; i < STEPS; i++) {
        void **slot = &slots[random_below(SLOTS)];
        if (*slot != NULL) {
            give(*slot);
            *slot = NULL;
        } else {
            *slot = take(1 + random_below(LARGEST));
        }
    }
    void *block;
    for (uint32_t size = 512; (block = take(size)) != NULL; size *= 2) {
        say("l", (uint32_t)(uintptr_t)block, 0);
    }
}

int main(int count, char **words) {
    const char moment = count > 1 ? words[1][0] : 'r';
    heap_start();
    start_up();
    if (moment != 's') {
        grow();
    }
    if (moment == 'r') {
        change();
    }
    stopped();
    return 0;
}
