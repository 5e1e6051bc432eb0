/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands for a heap, asked by tasks that interrupt each other, also inside it, over the kernel
 * of examples/firmware. image tasks, or image alone: asked as often by nobody else.
 */
#include "board/semihost.h"
#include "kernel/kernel.h"

enum { CALLS = 300, LOW = 1, TASKS = 3, ROUNDS = 100 /* of the first task's calls, a part */ };

static queue *woken[TASKS + 1];

__attribute__((noinline)) uint32_t heap_step(uint32_t sum) {
    return sum * 33 ^ sum >> 7;
}

__attribute__((noinline)) uint32_t heap_part(uint32_t sum, uint32_t rounds) {
    for (uint32_t i = 0; i < rounds; i++) {
        sum = heap_step(sum);
    }
    return sum;
}

/* Others get in between before and behind the lock, and when it is given back. */
__attribute__((noinline)) uint32_t heap_call(uint32_t rounds) {
    uint32_t sum = heap_part(1, rounds);
    scheduler_lock();
    sum = heap_part(sum, rounds);
    scheduler_unlock();
    return heap_part(sum, rounds);
}

static void ask_when_woken(void *argument) {
    const uint32_t priority = (uint32_t)(size_t)argument;
    for (;;) {
        (void)queue_receive(woken[priority]);
        (void)heap_call(ROUNDS / priority);
    }
}

static void ask(void *unused) {
    (void)unused;
    for (unsigned i = 0; i < CALLS; i++) {
        (void)heap_call(ROUNDS);
    }
    semihost_exit(0);
}

static void tick(uint32_t now) {
    (void)queue_send(woken[2 + now % 2], NULL);
}

static void idle(void) {}

int main(int count, char **words) {
    if (count > 1 && words[1][0] == 'a') {
        for (uint32_t priority = TASKS; priority > LOW; priority--) {
            (void)heap_call(ROUNDS / priority);
        }
        ask(NULL);
    }
    bool is_made = task_create(ask, NULL, LOW, 512);
    for (size_t priority = LOW + 1; priority <= TASKS; priority++) {
        woken[priority] = queue_create(1);
        is_made = is_made && woken[priority] &&
                  task_create(ask_when_woken, (void *)priority, (unsigned)priority, 512);
    }
    if (!is_made) {
        return 1;
    }
    kernel_start(tick, idle);
}
