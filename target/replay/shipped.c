/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a packed trace by the calls of a program: those of a folder that `heapfit generate`
 * writes, their lock left empty, so that counting tells what a call costs as it ships.
 *
 * Command line: shipped FILE. Zeroed requests are plain ones, since what clears a block is the
 * program's. Prints how many requests ran out of memory. Ends with 0; 2: no heap or no trace.
 */
#define REPLAY_HEAP_SITE tag_of(event) /* of a plan with call sites, malloc passes it */
#include "replay_heap.h"

#include "board/semihost.h"
#include "replay/packed_trace.h"

#include <stdint.h>

enum { MOST_SLOTS = 1 << 18, EVENTS_AT_ONCE = 4096, OUT_OF_ORDER = 2 };

static void *slots[MOST_SLOTS]; /* NULL: no block, or out of memory */
static trace_event events[EVENTS_AT_ONCE];
static uint32_t refusals;

static void place(void **slot, void *block) {
    if (block == NULL) {
        refusals++;
        return;
    }
    *slot = block;
}

/* Inlined, so that the heap is called, not jumped to (counting/calls.c). */
static inline __attribute__((always_inline)) void *alloc_aligned(trace_event event) {
    return alignment_of(event) > 1 ? replay_aligned_alloc(alignment_of(event), event.size)
                                   : replay_malloc(event.size);
}

static void replay_event(trace_event event) {
    void **slot = &slots[slot_of(event)];
    switch (operation_of(event)) {
    case TRACE_ALLOC:
    case TRACE_ZEROED:
        place(slot, replay_malloc(event.size));
        break;
    case TRACE_ALIGNED:
        place(slot, alloc_aligned(event));
        break;
    case TRACE_RESIZE:
        if (*slot != NULL) {
            place(slot, replay_realloc(*slot, event.size));
        }
        break;
    default:
        if (*slot != NULL) {
            replay_free(*slot);
        }
        *slot = NULL;
    }
}

static _Noreturn void give_up(const char *why) {
    semihost_print(why);
    semihost_exit(OUT_OF_ORDER);
}

static void replay_file(int file, uint32_t left) {
    while (left > 0) {
        const uint32_t count = left < EVENTS_AT_ONCE ? left : EVENTS_AT_ONCE;
        if (semihost_read(file, events, count * sizeof *events) != count * sizeof *events) {
            give_up("the trace ends too soon\n");
        }
        for (uint32_t i = 0; i < count; i++) {
            replay_event(events[i]);
        }
        left -= count;
    }
}

int main(int count, char **words) {
    trace_header header;
    const int file = semihost_open(count == 2 ? words[1] : "");
    if (file < 0 || semihost_read(file, &header, sizeof header) != sizeof header ||
        header.magic != TRACE_MAGIC || header.slots > MOST_SLOTS) {
        give_up("no trace, or one of too many live objects\n");
    }
    if (!replay_heap_init()) {
        give_up("the region does not make a heap\n");
    }
    replay_file(file, header.events);
    semihost_print_count("refusals", refusals);
    return 0;
}
