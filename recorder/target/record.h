/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what firmware asks of its heap: on the device, in a ring of the firmware's, from which
 * frames leave by any sink for `heapfit import` (FRAMES.md).
 *
 *   task, interrupt        ring of frames, 64 B each          task, idle loop        host
 *   hfit_record_alloc -->  | full | full | filled | free | --> hfit_record_drain --> sink --> log
 *   hfit_record_free                                           header, CRC
 *
 * Freestanding C11: no globals, no allocation, no library. A call that records never waits: where
 * no frame is free the event is left out, and the frame after it tells how many are. Instructions,
 * bytes of code and bytes an event: docs/on-target.md.
 */
#ifndef HFIT_RECORD_H
#define HFIT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A build's own settings: -DHFIT_RECORD_CONFIG_FILE='"my_recorder.h"'. */
#ifdef HFIT_RECORD_CONFIG_FILE
#include HFIT_RECORD_CONFIG_FILE
#endif

/* The time of an event in ticks, any uint32_t that only grows and may wrap. */
#ifndef HFIT_RECORD_TICKS
#define HFIT_RECORD_TICKS() ((uint32_t)0)
#endif

/* Around what one event changes; a declaration may stand in the first. Where interrupts or other
 * tasks use the heap, mask them: the time is that of one event. */
#ifndef HFIT_RECORD_LOCK
#define HFIT_RECORD_LOCK() ((void)0)
#define HFIT_RECORD_UNLOCK() ((void)0)
#endif

/* log2 of what every block's address is a multiple of, at least 2, which fits the heaps of all
 * 32-bit targets known to us; 3 saves a bit an event where blocks are aligned to 8. */
#ifndef HFIT_RECORD_ALIGNMENT_LOG2
#define HFIT_RECORD_ALIGNMENT_LOG2 2
#endif

/* HFIT_RECORD_SERVED(block), if a build defines it, is what the memory offers that a block lies in:
 * the bits of docs/evidence/schemas.md, such as 8 | 128 for external RAM; 0 = unknown. It is asked
 * under the lock and may look at the address alone. A block of the same memory as the one before in
 * its frame takes no byte of the log, others take 3. */

/* 1: each request is told with the place that asks, which takes 5 or 6 bytes of the log. The
 * adapters tell their function's return address. */
#ifndef HFIT_RECORD_CALL_SITES
#define HFIT_RECORD_CALL_SITES 0
#endif

/* Bytes of a frame's slot in the ring: 44 to 127. */
#ifndef HFIT_RECORD_FRAME_SIZE
#define HFIT_RECORD_FRAME_SIZE 64
#endif

/* A flag: sizes are those of blocks, what was asked for may be less. */
#define HFIT_RECORD_ROUNDED 1

/* The system whose heap is recorded, in three bits of the flags. */
#define HFIT_RECORD_FREERTOS (1 << 1)
#define HFIT_RECORD_LWIP (2 << 1)
#define HFIT_RECORD_ZEPHYR (3 << 1)
#define HFIT_RECORD_ESP_IDF (4 << 1)

#ifdef __cplusplus
extern "C" {
#endif

/* What does not change while a program runs; may lie in ROM. */
typedef struct hfit_record_about {
    uint8_t *ring;         /* begins as zeros and must outlive the recorder */
    uint32_t ring_size;    /* bytes: two frames' or more, and less than 64 KiB */
    const void *heap_base; /* a block's address is told from here, or from the block before */
    uint32_t heap_size;    /* bytes; 0 = unknown */
    uint32_t tick_rate;    /* ticks a second; 0 = no clock */
    uint32_t live;         /* blocks that were allocated before the recording began */
    uint32_t flags;        /* HFIT_RECORD_ROUNDED, and one of the systems; 0 = neither */
} hfit_record_about;

/* A recorder: 36 bytes on a 32-bit target, the caller's. The fields are the recorder's own. */
typedef struct hfit_recorder {
    const hfit_record_about *about;
    uint8_t *at;              /* where the next event goes */
    uint8_t *volatile filled; /* the frame it belongs to */
    uint8_t *volatile oldest; /* the frame to drain next; only the drain changes it */
    uint32_t events;          /* offered so far, recorded or left out */
    uintptr_t address;        /* of the event before in this frame */
    uint32_t tick;            /* likewise */
    uint8_t needs;            /* of the next request */
    uint8_t served;           /* of the block before in this frame */
    uint32_t site;            /* of the next request */
} hfit_recorder;

#define HFIT_RECORD_BODY_AT 9 /* bytes of a frame before its first event */

/* What a recorder begins as, of a hfit_record_about and its `ring` and `heap_base`. */
#define HFIT_RECORDER(what, bytes, base)                                                           \
    {                                                                                              \
        .about = &(what), .at = (bytes) + HFIT_RECORD_BODY_AT, .filled = (bytes),                  \
        .oldest = (bytes), .address = (uintptr_t)(base)                                            \
    }

/* What the next request needs of its memory, told under the lock that its record is made under: the
 * bits of docs/evidence/schemas.md, such as 2 for DMA. */
void hfit_record_needs(hfit_recorder *recorder, uint8_t needs);

/* The place that the next request comes from, told as `needs` are: a return address, of which the
 * lower 32 bits count, or a number of your own; 0 = unknown. Without effect unless record.c is
 * built with HFIT_RECORD_CALL_SITES. */
void hfit_record_site(hfit_recorder *recorder, const void *site);

/* After the heap answered a request for `size` bytes; a `block` of NULL tells that it refused. */
void hfit_record_alloc(hfit_recorder *recorder, const void *block, size_t size);

/* The same of calloc: `size` is the product. */
void hfit_record_zeroed(hfit_recorder *recorder, const void *block, size_t size);

/* The same of aligned_alloc and memalign; `alignment` is a power of two. */
void hfit_record_aligned(hfit_recorder *recorder, const void *block, size_t size, size_t alignment);

/* Before the heap gets the block back; NULL is no event. */
void hfit_record_free(hfit_recorder *recorder, const void *block);

/*
 * After the heap answered a resize. `block` NULL tells that it refused, and `old` stays; `old` NULL
 * makes it an allocation; `size` 0 with `block` NULL a free. The heap's own lock must be held from
 * the resize to this call, or another task may be given `old` in between.
 */
void hfit_record_resize(hfit_recorder *recorder, const void *old, const void *block, size_t size);

/* Takes `size` bytes, at most HFIT_RECORD_FRAME_SIZE, all of them or none: false, and they are
 * offered again by the next drain. It must ask no memory of the heap that is recorded. */
typedef bool hfit_record_sink(void *context, const void *bytes, size_t size);

/*
 * Hands the frames that are full by now to a sink, with a header frame before the first and each
 * 32nd of the ring. For one task or the idle loop: not for interrupts, and not twice at a time.
 * False if the sink took less than all.
 */
bool hfit_record_drain(hfit_recorder *recorder, hfit_record_sink *sink, void *context);

/* Ends the frame that is being filled, so that the next drain takes it, too: when the program is
 * idle, about to end or to sleep. */
void hfit_record_close_frame(hfit_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif
