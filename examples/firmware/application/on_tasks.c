/* SPDX-License-Identifier: Apache-2.0 */
#include "actors.h"

#include "freertos/FreeRTOS.h"
#include "kernel/kernel.h"
#include "kernel/processor.h"

struct actor {
    void (*handle)(void *message);
    queue *mailbox;
};

static void run_actor(void *argument) {
    const actor *const self = argument;
    for (;;) {
        self->handle(queue_receive(self->mailbox));
    }
}

actor *actor_create(void (*handle)(void *), unsigned priority, unsigned mailbox,
                    size_t stack_bytes) {
    actor *const made = pvPortMalloc(sizeof *made);
    if (!made) {
        return NULL;
    }
    *made = (actor){handle, queue_create(mailbox)};
    return made->mailbox && task_create(run_actor, made, priority, stack_bytes) ? made : NULL;
}

bool actor_send(actor *to, void *message) {
    return queue_send(to->mailbox, message);
}

bool call_after(uint32_t ticks, void (*callback)(void *), void *argument) {
    return timer_start(ticks, callback, argument);
}

static void (*do_when_idle)(void);

static void idle(void) {
    do_when_idle();
    wait_for_interrupt();
}

void actors_run(void (*tick)(uint32_t), void (*when_idle)(void)) {
    do_when_idle = when_idle;
    kernel_start(tick, idle);
}
