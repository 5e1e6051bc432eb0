/* SPDX-License-Identifier: Apache-2.0 */
#include "actors.h"

#include "freertos/FreeRTOS.h"
#include "kernel/kernel.h"
#include "kernel/timers.h"

enum { MOST_ACTORS = 8, HANDLED_A_TICK = 4 };

struct actor {
    void (*handle)(void *message);
    unsigned length, count, head;
    void *messages[];
};

static struct {
    actor *actors[MOST_ACTORS]; /* by priority */
    timer *timers;
    uint32_t now;
} loop;

actor *actor_create(void (*handle)(void *), unsigned priority, unsigned mailbox,
                    size_t stack_bytes) {
    (void)stack_bytes;
    actor *const made = pvPortMalloc(sizeof *made + mailbox * sizeof(void *));
    if (made) {
        *made = (actor){.handle = handle, .length = mailbox};
        loop.actors[priority] = made;
    }
    return made;
}

bool actor_send(actor *to, void *message) {
    if (to->count == to->length) {
        return false;
    }
    to->messages[(to->head + to->count++) % to->length] = message;
    return true;
}

uint32_t kernel_now(void) {
    return loop.now;
}

bool call_after(uint32_t ticks, void (*callback)(void *), void *argument) {
    timer *const made = pvPortMalloc(sizeof *made);
    if (made) {
        *made = (timer){.due = loop.now + ticks, .callback = callback, .argument = argument};
        timers_add(&loop.timers, made);
    }
    return made;
}

static void call_due_timers(void) {
    for (timer *due; (due = timers_take(&loop.timers, loop.now));) {
        const timer copy = *due;
        vPortFree(due);
        copy.callback(copy.argument);
    }
}

/* Of the actor of the highest priority that has one. */
static bool handle_a_message(void) {
    for (unsigned priority = MOST_ACTORS; priority-- > 0;) {
        actor *const next = loop.actors[priority];
        if (next && next->count != 0) {
            void *const message = next->messages[next->head];
            next->head = (next->head + 1) % next->length;
            next->count--;
            next->handle(message);
            return true;
        }
    }
    return false;
}

void actors_run(void (*tick)(uint32_t), void (*idle)(void)) {
    for (;;) {
        loop.now++;
        tick(loop.now);
        call_due_timers();
        for (unsigned handled = 0; handled < HANDLED_A_TICK && handle_a_message(); handled++) {
        }
        idle();
    }
}
