/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a packed trace on a generated heap, by the rules of engine/include/heapfit/replay/
 * with refusals counted, and prints what that tells too.
 *
 * Command line: replay FILE. Built with HEAP_OPERATION(operation), which makes the name of the
 * allocator's function, and with replay_heap.c, which `heapfit generate` makes: its plan and its
 * region are used, its wrappers are not. Ends with 0; 1: the heap's metadata do not hold, of a
 * program that keeps its hands off freed blocks; 2: no heap or no trace.
 */
#include "replay_heap.c"

#include "board/semihost.h"
#include "hfit/descriptor.h"
#include "replay/packed_trace.h"

enum { MOST_SLOTS = 1 << 18, EVENTS_AT_ONCE = 4096, OUT_OF_ORDER = 2 };

typedef struct slot {
    void *block; /* NULL: none, or refused */
    uint32_t size;
} slot;

static slot slots[MOST_SLOTS];
extern const hfit_allocator HEAP_OPERATION(allocator);

static trace_event events[EVENTS_AT_ONCE];
static uint64_t placement_hash = 0xcbf29ce484222325;
static uint32_t refusals;
static uintptr_t stack_at_calls; /* the stack pointer, before what an allocator pushes */

static hfit_heap *heap(void) {
    return (hfit_heap *)(void *)replay_heap_region;
}

static const hfit_plan *plan(void) {
    return replay_heap_plan();
}

static _Noreturn void give_up(const char *why) {
    semihost_print(why);
    semihost_exit(OUT_OF_ORDER);
}

static void place(slot *object, void *block, uint32_t size) {
    if (block == NULL) {
        refusals++;
        return;
    }
    const uint32_t offset = (uint32_t)((unsigned char *)block - replay_heap_region);
    placement_hash = (placement_hash ^ offset) * 0x100000001b3;
    *object = (slot){block, size};
}

static void note_stack(void) {
#if defined(__arm__)
    __asm__ volatile("mov %0, sp" : "=r"(stack_at_calls));
#else
    __asm__ volatile("mv %0, sp" : "=r"(stack_at_calls));
#endif
}

static void *alloc_aligned(uint32_t alignment, size_t size) {
    return alignment > 1 ? HEAP_OPERATION(alloc_aligned)(heap(), plan(), alignment, size)
                         : HEAP_OPERATION(alloc)(heap(), plan(), size);
}

/* Clears a block, which may lie in pieces. */
static void clear_block(void *block, size_t left) {
    const hfit_allocator *allocator = &HEAP_OPERATION(allocator);
    size_t bytes = left;
    void *piece = allocator->next_piece == NULL
                      ? block
                      : allocator->next_piece(heap(), plan(), block, NULL, &bytes);
    while (piece != NULL && left > bytes) {
        image_clear(piece, bytes);
        left -= bytes;
        piece = allocator->next_piece(heap(), plan(), block, piece, &bytes);
    }
    if (piece != NULL) {
        image_clear(piece, left);
    }
}

/* For call sites with tags, if the allocator knows such. Inlined, so that the allocator is called,
 * not jumped to: counting/calls.c knows a call by where it returns to. */
static inline __attribute__((always_inline)) void *alloc_at(uint32_t tag, size_t size) {
    const hfit_allocator *allocator = &HEAP_OPERATION(allocator);
    return tag != 0 && allocator->alloc_at != NULL ? allocator->alloc_at(heap(), plan(), size, tag)
                                                   : HEAP_OPERATION(alloc)(heap(), plan(), size);
}

static void *alloc_zeroed(uint32_t tag, size_t size) {
    void *block = alloc_at(tag, size);
    if (block != NULL) {
        clear_block(block, size);
    }
    return block;
}

/* As a program does that still uses a freed block: it is cleared or, in turn, filled with text. */
static void write_after_free(void *block) {
    static bool is_text;
    *(volatile uint32_t *)block = is_text ? 0x20202020 : 0;
    is_text = !is_text;
}

static void free_object(slot *object, uint32_t flags) {
    if (object->block != NULL && (flags & TRACE_FREES_BY_SIZE) != 0) {
        HEAP_OPERATION(free_sized)(heap(), plan(), object->block, object->size);
    } else if (object->block != NULL) {
        HEAP_OPERATION(free)(heap(), plan(), object->block);
    }
    if (object->block != NULL && (flags & TRACE_WRITES_AFTER_FREE) != 0) {
        write_after_free(object->block);
    }
    *object = (slot){NULL, 0};
}

static void resize_object(slot *object, uint32_t size, bool is_by_size) {
    if (object->block != NULL && is_by_size) {
        place(object,
              HEAP_OPERATION(resize_sized)(heap(), plan(), object->block, object->size, size),
              size);
    } else if (object->block != NULL) {
        place(object, HEAP_OPERATION(resize)(heap(), plan(), object->block, size), size);
    }
}

static void replay_event(trace_event event, uint32_t flags) {
    slot *object = &slots[slot_of(event)];
    note_stack();
    switch (operation_of(event)) {
    case TRACE_ALLOC:
        place(object, alloc_at(tag_of(event), event.size), event.size);
        break;
    case TRACE_ZEROED:
        place(object, alloc_zeroed(tag_of(event), event.size), event.size);
        break;
    case TRACE_ALIGNED:
        place(object, alloc_aligned(alignment_of(event), event.size), event.size);
        break;
    case TRACE_RESIZE:
        resize_object(object, event.size, (flags & TRACE_FREES_BY_SIZE) != 0);
        break;
    default:
        free_object(object, flags);
    }
}

static int open_trace(const char *name, trace_header *header) {
    const int file = semihost_open(name);
    if (file < 0 || semihost_read(file, header, sizeof *header) != sizeof *header ||
        header->magic != TRACE_MAGIC || header->slots > MOST_SLOTS) {
        give_up("no trace, or one of too many live objects\n");
    }
    return file;
}

static void replay_file(int file, const trace_header *header) {
    uint32_t left = header->events;
    while (left > 0) {
        const uint32_t count = left < EVENTS_AT_ONCE ? left : EVENTS_AT_ONCE;
        if (semihost_read(file, events, count * sizeof *events) != count * sizeof *events) {
            give_up("the trace ends too soon\n");
        }
        for (uint32_t i = 0; i < count; i++) {
            replay_event(events[i], header->flags);
        }
        left -= count;
    }
}

int main(int count, char **words) {
    trace_header header;
    const int file = open_trace(count == 2 ? words[1] : "", &header);
    if (HEAP_OPERATION(init)(replay_heap_region, sizeof replay_heap_region, plan()) == NULL) {
        give_up("the region does not make a heap\n");
    }
    replay_file(file, &header);
    semihost_print_hash("placements", placement_hash);
    semihost_print_count("refusals", refusals);
    semihost_print_count("stack", stack_at_calls);
    semihost_print_count("footprint", (uint32_t)HEAP_OPERATION(footprint)(heap(), plan()));
    return (header.flags & TRACE_WRITES_AFTER_FREE) != 0 || HEAP_OPERATION(check)(heap(), plan())
               ? 0
               : 1;
}
