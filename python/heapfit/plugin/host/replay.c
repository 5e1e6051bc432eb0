/* SPDX-License-Identifier: Apache-2.0 */
/* See replay.h. */
#include "replay.h"

#include "answer.h"
#include "content.h"
#include "face.h"
#include "meter.h"
#include "region.h"

#include <sys/mman.h>

typedef struct state {
    const trace *trace;
    face plugin;
    effort how;
    block *objects;
    uint64_t placements;
    uint32_t lowest;
    uint32_t highest;
    uint32_t footprint;
} state;

static size_t covered(const block *b) {
    return b->size > 0 ? b->size : 1;
}

void require_sound(const void *address, size_t size, size_t alignment, size_t least) {
    if ((uintptr_t)address % least != 0) {
        stop_at(FAULT_MISALIGNED, (uint32_t)least, 0);
    }
    if ((uintptr_t)address % alignment != 0) {
        stop_at(FAULT_ALIGNMENT_IGNORED, (uint32_t)alignment, 0);
    }
    if (!is_inside(address, size)) {
        stop_at(FAULT_OUTSIDE, (uint32_t)size, 0);
    }
    claim(address, size);
}

static uint32_t number_of(const state *s, const block *b) {
    return (uint32_t)(b - s->objects);
}

static void require_content(const state *s, const block *b, size_t size, fault otherwise) {
    if (s->how == EFFORT_CONTENT && !has_content(b->address, size, number_of(s, b))) {
        stop_at(otherwise, b->size, number_of(s, b));
    }
}

static uint32_t larger(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

/* What a block that was served changes in the sums. */
static void place(state *s, const block *b) {
    const uint32_t offset = (uint32_t)(b->address - heap_region.start);
    s->placements = (s->placements ^ offset) * 0x100000001b3;
    s->footprint = larger(s->footprint, offset + (uint32_t)covered(b));
    if (b->size > 0) {
        s->lowest = offset < s->lowest ? offset : s->lowest;
        s->highest = larger(s->highest, offset + b->size);
    }
    if (s->how == EFFORT_CONTENT) {
        write_content(b->address, b->size, number_of(s, b));
    }
}

static bool take(state *s, event e) {
    block *b = &s->objects[e.object];
    const bool is_aligned = operation_of(e) == OP_ALIGNED && alignment_of(e) > 1;
    const size_t alignment = is_aligned ? alignment_of(e) : s->plugin.alignment;
    begin_call(NULL, 0);
    *b = face_alloc(&s->plugin, alignment, e.size, is_aligned);
    end_call(b->address, 0);
    if (b->address == NULL) {
        return false;
    }
    require_sound(b->address, covered(b), b->alignment, s->plugin.alignment);
    place(s, b);
    return true;
}

static void give(state *s, block *b) {
    require_content(s, b, b->size, FAULT_HEADER_IN_PAYLOAD);
    unclaim(b->address, covered(b));
    begin_call(NULL, 0);
    face_free(&s->plugin, b);
    end_call(NULL, 0);
    b->address = NULL;
}

static bool resize(state *s, block *b, uint32_t size) {
    const uint32_t kept = size < b->size ? size : b->size;
    const block old = *b;
    require_content(s, b, b->size, FAULT_HEADER_IN_PAYLOAD);
    begin_call(old.address, old.size);
    void *address = face_resize(&s->plugin, &old, size);
    end_call(address == old.address ? NULL : address, kept);
    if (address == NULL) {
        require_content(s, b, b->size, FAULT_NULL_CHANGES);
        return false;
    }
    unclaim(old.address, covered(&old));
    *b = (block){address, size, old.alignment};
    require_sound(b->address, covered(b), s->plugin.alignment, s->plugin.alignment);
    require_content(s, b, kept, FAULT_RESIZE_LOSES);
    place(s, b);
    return true;
}

/* False if the event is a request that is refused. Events of an object that was never served are
 * passed over. */
static bool step(state *s, event e) {
    block *b = &s->objects[e.object];
    switch (operation_of(e)) {
    case OP_RESIZE:
    case OP_FREE:
        if (b->address == NULL) {
            return true;
        }
        if (operation_of(e) == OP_RESIZE && e.size > 0) {
            return resize(s, b, e.size);
        }
        give(s, b);
        return true;
    default:
        return take(s, e);
    }
}

/* What the last calls did to blocks that stayed live, and to what lies behind the region. */
static void require_all_kept(const state *s) {
    for (uint32_t i = 0; i < s->trace->objects; i++) {
        if (s->objects[i].address != NULL) {
            require_content(s, &s->objects[i], s->objects[i].size, FAULT_HEADER_IN_PAYLOAD);
        }
    }
    if (!is_filler_kept()) {
        stop_at(FAULT_OUTSIDE, 0, 0);
    }
}

static void follow(state *s) {
    bool runs = true;
    for (uint32_t i = 0; i < s->trace->count; i++) {
        told->events = i;
        const bool is_served = step(s, s->trace->events[i]);
        runs = runs && is_served;
        if (!is_served && s->how == EFFORT_PLACES) {
            break;
        }
    }
    told->runs = runs;
    if (runs) {
        told->events = s->trace->count;
    }
    require_all_kept(s);
}

block *reserve_objects(const trace *t) {
    const size_t bytes = ((size_t)t->objects + 1) * sizeof(block);
    void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}

void replay(const trace *t, size_t alignment, effort how, block *objects) {
    state s = {.trace = t,
               .plugin = {NULL, alignment, how == EFFORT_CONTENT},
               .how = how,
               .objects = objects,
               .placements = 0xcbf29ce484222325,
               .lowest = UINT32_MAX};
    s.plugin.heap = face_init(heap_region.start, heap_region.size, alignment);
    if (s.plugin.heap == NULL) {
        return;
    }
    told->is_region = true;
    follow(&s);
    told->placements = s.placements;
    told->footprint = s.footprint;
    told->height = s.highest - (s.lowest < s.highest ? s.lowest : s.highest);
}
