/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deliberately broken: a bump heap that rounds sizes down, so that a block of 12 bytes has room for
 * 8, and that never takes a block back. docs/plugins.md has what heapfit tells of it.
 */
#include "heapfit_plugin.h"

enum { UNIT = 8 };

typedef struct broken_heap {
    unsigned char *next;
    unsigned char *end;
} broken_heap;

void *plugin_init(void *region, size_t size, size_t alignment) {
    broken_heap *heap = region;
    if (size < 3 * UNIT || alignment > UNIT) {
        return NULL;
    }
    *heap = (broken_heap){(unsigned char *)region + 2 * UNIT, (unsigned char *)region + size};
    return heap;
}

void *plugin_alloc(void *it, size_t size) {
    broken_heap *heap = it;
    const size_t rounded = size / UNIT * UNIT; /* down */
    if ((size_t)(heap->end - heap->next) < rounded) {
        return NULL;
    }
    unsigned char *block = heap->next;
    heap->next += rounded;
    return block;
}

void plugin_free(void *it, void *block) {
    (void)it;
    (void)block;
}
