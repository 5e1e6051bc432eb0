/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a file of events on a generated heap, by the engine's rules, and prints what the engine's
 * replay tells too: the hash of every block's offset, in order, the requests refused and the
 * footprint.
 *
 * Usage: replay FILE OBJECTS
 */
#include "app_heap.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* The generated region: static there, made visible in the object under test. */
extern unsigned char app_heap_region[];

/* Of a plan without call sites the header has neither. */
#ifndef TAKES_TAGS
#define TAKES_TAGS 0
#define app_malloc_at(size, tag) NULL
#define app_calloc_at(count, size, tag) NULL
#endif

enum { ALLOC, ZEROED, ALIGNED, RESIZE, FREE };

typedef struct event {
    uint64_t size;
    uint32_t object;
    uint32_t alignment;
    uint32_t op;
    uint32_t tag;
} event;

static uint64_t placement_hash = 0xcbf29ce484222325;
static uint64_t refusals;

/* Keeps the block where a request was served, else what was there. */
static void place(void **object, void *block) {
    if (block == NULL) {
        refusals++;
        return;
    }
    const uint32_t offset = (uint32_t)((unsigned char *)block - app_heap_region);
    placement_hash = (placement_hash ^ offset) * 0x100000001b3;
    *object = block;
}

/* A size beyond the target's is refused by the engine; so is the largest of the target. */
static size_t size_of(uint64_t size) {
    return size > SIZE_MAX ? SIZE_MAX : (size_t)size;
}

static void replay(const event *event, void **object) {
    const size_t size = size_of(event->size);
    switch (event->op) {
    case ALLOC:
        place(object, TAKES_TAGS ? app_malloc_at(size, event->tag) : app_malloc(size));
        break;
    case ZEROED:
        place(object, TAKES_TAGS ? app_calloc_at(size, 1, event->tag) : app_calloc(size, 1));
        break;
    case ALIGNED:
        place(object,
              event->alignment > 1 ? app_aligned_alloc(event->alignment, size) : app_malloc(size));
        break;
    case RESIZE:
        if (*object != NULL && size != 0) {
            place(object, app_realloc(*object, size));
            break;
        }
        /* fall through */
    default:
        app_free(*object);
        *object = NULL;
    }
}

int main(int count, char **arguments) {
    FILE *file = count == 3 ? fopen(arguments[1], "rb") : NULL;
    void **objects = count == 3 ? calloc(strtoul(arguments[2], NULL, 10), sizeof *objects) : NULL;
    event next;
    if (file == NULL || objects == NULL || !app_heap_init()) {
        return 2;
    }
    while (fread(&next, sizeof next, 1, file) == 1) {
        replay(&next, &objects[next.object]);
    }
    printf("%" PRIu64 " %" PRIu64 " %zu\n", placement_hash, refusals, app_heap_footprint());
    return app_heap_check() ? 0 : 1;
}
