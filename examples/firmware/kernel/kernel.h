/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small preemptive kernel for a Cortex-M3: up to eight tasks, the ready one of the highest
 * priority runs; queues of pointers; timers. It stands for the kernels that firmware is built on:
 * the heap is asked by tasks that interrupt each other, so what is asked, and when, depends on how
 * long each call takes.
 */
#ifndef FIRMWARE_KERNEL_H
#define FIRMWARE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TICKS_PER_SECOND = 1000, MOST_TASKS = 8, TIMER_PRIORITY = 7 };

typedef struct queue queue;

/* A task at a priority of its own, 1 (low) to 6; the heap gives its stack. False if it cannot. */
bool task_create(void (*entry)(void *argument), void *argument, unsigned priority,
                 size_t stack_bytes);

/* A queue of at most `length` pointers, for one receiving task; NULL if the heap refuses. */
queue *queue_create(unsigned length);

/* Never waits, so that interrupts may send: false if the queue is full. */
bool queue_send(queue *to, void *item);

/* Waits for an item. */
void *queue_receive(queue *from);

/* Calls `callback` once, from the timers' task, after `ticks`. False if the heap refuses. */
bool timer_start(uint32_t ticks, void (*callback)(void *argument), void *argument);

/* Between the two no other task runs, but interrupts do. They nest. */
void scheduler_lock(void);
void scheduler_unlock(void);

/* Runs the tasks; `tick` is called by the interrupt of each tick, `idle` when no task is ready. */
_Noreturn void kernel_start(void (*tick)(uint32_t now), void (*idle)(void));

/* Ticks since the start. */
uint32_t kernel_now(void);

#endif
