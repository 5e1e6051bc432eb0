/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a packed trace on an allocator that is not heapfit's, through its adapter, up to the
 * first refusal. Command line: plugin FILE. Built with REGION_BYTES and BLOCK_ALIGNMENT. What the
 * adapter leaves out is settled as on the host, by the same code.
 *
 * Ends with 0; 1: a request was refused; 2: no heap or no trace.
 */
#include "board/semihost.h"
#include "host/face.h"
#include "replay/packed_trace.h"

/* Of a heap that grows by itself: the most bytes of its region that it ever took. */
size_t plugin_taken(void *heap);
#pragma weak plugin_taken

enum { MOST_SLOTS = 1 << 16, EVENTS_AT_ONCE = 4096, OUT_OF_ORDER = 2 };

static unsigned char region[REGION_BYTES] __attribute__((aligned(4096)));
static block blocks[MOST_SLOTS];
static trace_event events[EVENTS_AT_ONCE];
static face plugin = {.alignment = BLOCK_ALIGNMENT, .copies = true};
static uintptr_t stack_at_calls; /* the stack pointer, before what an allocator pushes */

static _Noreturn void give_up(const char *why) {
    semihost_print(why);
    semihost_exit(OUT_OF_ORDER);
}

static void note_stack(void) {
#if defined(__arm__)
    __asm__ volatile("mov %0, sp" : "=r"(stack_at_calls));
#else
    __asm__ volatile("mv %0, sp" : "=r"(stack_at_calls));
#endif
}

static bool take(block *b, trace_event event) {
    const bool is_aligned = operation_of(event) == TRACE_ALIGNED && alignment_of(event) > 1;
    const size_t alignment = is_aligned ? alignment_of(event) : BLOCK_ALIGNMENT;
    *b = face_alloc(&plugin, alignment, event.size, is_aligned);
    return b->address != NULL;
}

static bool replay_event(trace_event event) {
    block *b = &blocks[slot_of(event)];
    note_stack();
    if (operation_of(event) < TRACE_RESIZE) {
        return take(b, event);
    }
    if (operation_of(event) == TRACE_FREE) {
        face_free(&plugin, b);
        return true;
    }
    void *address = face_resize(&plugin, b, event.size);
    *b = (block){address, event.size, b->alignment};
    return address != NULL;
}

static bool replay_file(int file, uint32_t left) {
    while (left > 0) {
        const uint32_t count = left < EVENTS_AT_ONCE ? left : EVENTS_AT_ONCE;
        if (semihost_read(file, events, count * sizeof *events) != count * sizeof *events) {
            give_up("the trace ends too soon\n");
        }
        for (uint32_t i = 0; i < count; i++) {
            if (!replay_event(events[i])) {
                return false;
            }
        }
        left -= count;
    }
    return true;
}

int main(int count, char **words) {
    trace_header header;
    const int file = semihost_open(count == 2 ? words[1] : "");
    if (file < 0 || semihost_read(file, &header, sizeof header) != sizeof header ||
        header.magic != TRACE_MAGIC || header.slots > MOST_SLOTS) {
        give_up("no trace, or one of too many live objects\n");
    }
    use_entries(&plugin_entries);
    plugin.heap = face_init(region, sizeof region, BLOCK_ALIGNMENT);
    if (plugin.heap == NULL) {
        give_up("the region does not make a heap\n");
    }
    const bool is_served = replay_file(file, header.events);
    semihost_print_count("stack", (uint32_t)stack_at_calls);
    if (plugin_taken != NULL) {
        semihost_print_count("taken", (uint32_t)plugin_taken(plugin.heap));
    }
    return is_served ? 0 : 1;
}
