/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An application on FreeRTOS's heap functions that asks for what a packed trace says, recorded by
 * recorder/target through its adapter. Frames go to the file heapfit.frames by semihosting; built
 * with IMAGE_HAS_UART, to the board's first UART.
 *
 * Command line: recording TRACE. IMAGE_TICK_RATE ticks are a second of IMAGE_EVENTS_A_SECOND
 * events; each IMAGE_DRAIN_EACH milliseconds a drain takes what is there. Ends with 0; 2: no trace.
 */
#include <FreeRTOS.h>
#include <task.h>

#include "board/semihost.h"
#include "recorder/target/adapters/one_heap.h"
#include "recorder/target/sinks/sinks.h"
#include "replay/packed_trace.h"

enum { MOST_SLOTS = 4096, EVENTS_AT_ONCE = 4096, NO_TRACE = 2 };

static void *blocks[MOST_SLOTS];
static trace_event events[EVENTS_AT_ONCE];
static uint32_t done;    /* events */
static uint32_t drained; /* the millisecond of the last drain */
static TickType_t now;

void *image_resize(void *block, size_t size);
void *image_aligned(uint32_t alignment, size_t size);

#ifdef IMAGE_HAS_UART
#define UART ((volatile uint32_t *)0x40004000) /* CMSDK's: data, state, control, -, divider */

static int put_character(int character) {
    while ((UART[1] & 1) != 0) {
    }
    UART[0] = (uint32_t)character;
    return character;
}

static void drain(void) {
    hfit_character_sink sink = {put_character};
    UART[4] = 16;
    UART[2] = 1;
    (void)hfit_record_drain(&hfit_one_heap, hfit_record_to_characters, &sink);
}
#else
static void drain(void) {
    (void)hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL);
}
#endif

TickType_t xTaskGetTickCountFromISR(void) {
    return now;
}

/* There is one task. */
void vTaskSuspendAll(void) {}

BaseType_t xTaskResumeAll(void) {
    return 0;
}

static void resize(void **object, uint32_t size) {
    void *block = image_resize(*object, size);
    hfit_record_resize(&hfit_one_heap, *object, block, size);
    *object = block == NULL ? *object : block;
}

static void *aligned(uint32_t alignment, size_t size) {
    void *block = image_aligned(alignment, size);
    hfit_record_aligned(&hfit_one_heap, block, size, alignment);
    return block;
}

static void perform(trace_event event) {
    void **object = &blocks[slot_of(event)];
    switch (operation_of(event)) {
    case TRACE_ALLOC:
        *object = pvPortMalloc(event.size);
        break;
    case TRACE_ZEROED:
        *object = pvPortCalloc(1, event.size);
        break;
    case TRACE_ALIGNED:
        *object = aligned(alignment_of(event), event.size);
        break;
    case TRACE_RESIZE:
        resize(object, event.size);
        break;
    default:
        vPortFree(*object);
        *object = NULL;
    }
}

/* The tasks that run between two events, and one that drains. */
static void pass_time(void) {
    done++;
    now = (TickType_t)((uint64_t)done * IMAGE_TICK_RATE / IMAGE_EVENTS_A_SECOND);
    const uint32_t millisecond = (uint32_t)((uint64_t)done * 1000 / IMAGE_EVENTS_A_SECOND);
    if (millisecond - drained >= IMAGE_DRAIN_EACH) {
        drained = millisecond;
        drain();
    }
}

int main(int count, char **words) {
    trace_header header;
    const int file = semihost_open(count == 2 ? words[1] : "");
    if (file < 0 || semihost_read(file, &header, sizeof header) != sizeof header ||
        header.magic != TRACE_MAGIC || header.slots > MOST_SLOTS) {
        semihost_print("no trace, or one of too many live objects\n");
        return NO_TRACE;
    }
    for (uint32_t left = header.events; left > 0;) {
        const uint32_t size = left < EVENTS_AT_ONCE ? left : EVENTS_AT_ONCE;
        (void)semihost_read(file, events, size * sizeof *events);
        for (uint32_t i = 0; i < size; i++) {
            perform(events[i]);
            pass_time();
        }
        left -= size;
    }
    hfit_record_close_frame(&hfit_one_heap);
    drain();
    return 0;
}
