/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the application is written on: actors, each of which handles one message at a time. Behind
 * it is one of two files: on_tasks.c gives every actor a task of its own, in_a_loop.c calls them in
 * turn and counts its rounds as ticks, so that nothing depends on how long a call takes.
 */
#ifndef FIRMWARE_ACTORS_H
#define FIRMWARE_ACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct actor actor;

/* An actor of a priority of its own, 1 (low) to 6; NULL if the heap refuses. */
actor *actor_create(void (*handle)(void *message), unsigned priority, unsigned mailbox,
                    size_t stack_bytes);

/* False if the mailbox is full: the message stays the sender's. Interrupts may send. */
bool actor_send(actor *to, void *message);

/* Calls `callback` once after `ticks`, of which there are 1,000 a second. False if the heap
 * refuses. */
bool call_after(uint32_t ticks, void (*callback)(void *argument), void *argument);

/* Runs all; `tick` is called at each tick, as if by an interrupt, `idle` when nothing is left to
 * do. */
_Noreturn void actors_run(void (*tick)(uint32_t now), void (*idle)(void));

#endif
