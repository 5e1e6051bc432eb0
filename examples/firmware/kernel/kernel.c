/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel.h"

#include "board/start.h"
#include "freertos/FreeRTOS.h"
#include "processor.h"
#include "timers.h"

enum { IDLE_STACK_WORDS = 128 };

typedef struct task {
    uint32_t *stack; /* where its registers lie while it does not run */
} task;

struct queue {
    unsigned length, count, head, receiver; /* receiver: priority of the task that waits, or 0 */
    void *items[];
};

static struct {
    task *tasks[MOST_TASKS]; /* by priority; the idle loop is 0 */
    uint32_t ready;          /* a bit for each priority */
    unsigned current;
    unsigned locks;
    volatile uint32_t now;
    timer *timers;
    queue *timers_due;
    void (*tick)(uint32_t now);
    void (*idle)(void);
} kernel = {.ready = 1, .locks = 1}; /* locked until it starts */

static task idle_task;
static uint32_t idle_stack[IDLE_STACK_WORDS] __attribute__((aligned(8)));

static unsigned highest_ready(void) {
    return 31 - (unsigned)__builtin_clz(kernel.ready);
}

static void switch_if_due(void) {
    if (kernel.locks == 0 && highest_ready() != kernel.current) {
        request_switch();
    }
}

bool task_create(void (*entry)(void *), void *argument, unsigned priority, size_t stack_bytes) {
    task *const made = pvPortMalloc(sizeof *made);
    uint32_t *const stack = pvPortMalloc(stack_bytes);
    if (!made || !stack) {
        return false;
    }
    made->stack = first_frame(stack + stack_bytes / 8 * 2, entry, argument);
    kernel.tasks[priority] = made;
    const uint32_t before = mask_interrupts();
    kernel.ready |= 1u << priority;
    unmask_interrupts(before);
    return true;
}

/* Called by the switch with the stack of the task that ran; returns that of the next. */
uint32_t *next_stack(uint32_t *saved) {
    const uint32_t before = mask_interrupts();
    kernel.tasks[kernel.current]->stack = saved;
    if (kernel.locks == 0) {
        kernel.current = highest_ready();
    }
    uint32_t *const next = kernel.tasks[kernel.current]->stack;
    unmask_interrupts(before);
    return next;
}

void scheduler_lock(void) {
    kernel.locks++;
}

void scheduler_unlock(void) {
    const uint32_t before = mask_interrupts();
    kernel.locks--;
    switch_if_due();
    unmask_interrupts(before);
}

queue *queue_create(unsigned length) {
    queue *const made = pvPortMalloc(sizeof *made + length * sizeof(void *));
    if (made) {
        *made = (queue){.length = length};
    }
    return made;
}

bool queue_send(queue *to, void *item) {
    const uint32_t before = mask_interrupts();
    const bool fits = to->count < to->length;
    if (fits) {
        to->items[(to->head + to->count++) % to->length] = item;
        kernel.ready |= 1u << to->receiver;
        to->receiver = 0;
        switch_if_due();
    }
    unmask_interrupts(before);
    return fits;
}

void *queue_receive(queue *from) {
    uint32_t before = mask_interrupts();
    while (from->count == 0) {
        from->receiver = kernel.current;
        kernel.ready &= ~(1u << kernel.current);
        request_switch();
        unmask_interrupts(before); /* the switch is here */
        before = mask_interrupts();
    }
    void *const item = from->items[from->head];
    from->head = (from->head + 1) % from->length;
    from->count--;
    unmask_interrupts(before);
    return item;
}

bool timer_start(uint32_t ticks, void (*callback)(void *), void *argument) {
    timer *const made = pvPortMalloc(sizeof *made);
    if (!made) {
        return false;
    }
    *made = (timer){.due = kernel.now + ticks, .callback = callback, .argument = argument};
    const uint32_t before = mask_interrupts();
    timers_add(&kernel.timers, made);
    unmask_interrupts(before);
    return true;
}

static timer *due_timer(void) {
    const uint32_t before = mask_interrupts();
    timer *const due = timers_take(&kernel.timers, kernel.now);
    unmask_interrupts(before);
    return due;
}

static void run_timers(void *unused) {
    (void)unused;
    for (;;) {
        (void)queue_receive(kernel.timers_due);
        for (timer *due = due_timer(); due; due = due_timer()) {
            const timer copy = *due;
            vPortFree(due);
            copy.callback(copy.argument);
        }
    }
}

void on_tick(void) {
    kernel.now++;
    kernel.tick(kernel.now);
    if (timers_are_due(kernel.timers, kernel.now)) {
        (void)queue_send(kernel.timers_due, NULL); /* full: it is woken already */
    }
}

uint32_t kernel_now(void) {
    return kernel.now;
}

/* On the idle task's own stack: nothing of the caller's can be read. */
static _Noreturn __attribute__((noinline)) void run_idle(void) {
    start_ticks(TICKS_PER_SECOND);
    scheduler_unlock();
    for (;;) {
        kernel.idle();
    }
}

void kernel_start(void (*tick)(uint32_t), void (*idle)(void)) {
    enum { TIMER_STACK_BYTES = 512 };
    kernel.tick = tick;
    kernel.idle = idle;
    kernel.timers_due = queue_create(1);
    kernel.tasks[0] = &idle_task;
    if (!kernel.timers_due || !task_create(run_timers, NULL, TIMER_PRIORITY, TIMER_STACK_BYTES)) {
        end_by_fault();
    }
    run_on_stack(idle_stack + IDLE_STACK_WORDS);
    run_idle();
}
