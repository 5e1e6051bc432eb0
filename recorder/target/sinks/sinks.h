/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ways out of the device for frames, one source each: link the one that is used. None asks any heap
 * for memory. What `hfit_record_drain` is given as context is the caller's and begins as said here.
 * It is static: a scheduler that starts takes the stack of `main`.
 */
#ifndef HFIT_RECORD_SINKS_H
#define HFIT_RECORD_SINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* semihosting.c: a file heapfit.frames where the debugger or the emulator runs; needs no context.
 * The processor stands still meanwhile, and without a debugger it faults. */
bool hfit_record_to_semihosting(void *unused, const void *bytes, size_t size);

/* characters.c: a UART, or whatever takes one character after the other. Waits until all are taken;
 * `put` must change none of them (a console that makes CR LF of LF breaks frames). */
typedef struct hfit_character_sink {
    int (*put)(int character); /* as putchar; its answer is not looked at */
} hfit_character_sink;

bool hfit_record_to_characters(void *sink, const void *bytes, size_t size);

/* debugger_ring.c: a ring in RAM that a debug probe empties while the program runs, laid out as
 * SEGGER RTT's so that probes and OpenOCD's `rtt` find and read it. Set `buffer` and `size`; the
 * rest begins as 0. A frame for which the probe has left no room stays in the recorder. */
typedef struct hfit_debugger_ring {
    char id[16]; /* "SEGGER RTT", once the rest is ready */
    int32_t up_count;
    int32_t down_count;
    const char *name; /* of the one channel, up to the host */
    uint8_t *buffer;
    uint32_t size;             /* bytes; at least one frame's and 1 */
    volatile uint32_t next;    /* where the target writes */
    volatile uint32_t read_at; /* where the probe reads */
    uint32_t flags;            /* 0: a target never waits */
} hfit_debugger_ring;

bool hfit_record_to_debugger(void *sink, const void *bytes, size_t size);

/* memory.c: RAM that keeps all until a debugger dumps it, up to its end; later frames stay in the
 * recorder, whose losses count. Set `bytes` and `size`. */
typedef struct hfit_memory_sink {
    uint8_t *bytes;
    size_t size;
    size_t used;
} hfit_memory_sink;

bool hfit_record_to_memory(void *sink, const void *bytes, size_t size);

/* esp_idf_console.c: ESP-IDF's console, which needs no context. What other tasks print in the
 * middle of a frame damages it, and its events count as lost. */
bool hfit_record_to_esp_idf_console(void *unused, const void *bytes, size_t size);

/* freertos_task.c: a task that drains, each 5 ms, and about each second the frame that is not full
 * yet. Call it once; before the scheduler starts is the best place. Its stack and control block are
 * static and no part of the recording, whether or not the kernel allocates statically. */
void hfit_record_start_task(hfit_recorder *recorder, hfit_record_sink *sink, void *context);

/* Likewise: what the task is created from. For whoever serves pvPortMalloc in a kernel without
 * static allocation: NULL for all requests but those of that task. */
void *hfit_record_task_memory(size_t size);

/* zephyr_thread.c: a thread of Zephyr's that starts by itself, and needs no call. */

#ifdef __cplusplus
}
#endif

#endif
