/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bump heap with free lists, and its adapter: a freed block hangs in the list of its bin and is
 * never anything else again. Bins are of the blocks of 8, 16, 24 ... 512 bytes, then of each power
 * of two.
 *
 *   | next end lists | bin block | bin block | ...        never used |
 *                                                    ^ next            ^ end
 */
#include "heapfit_plugin.h"

#include <stdint.h>

enum { UNIT = 8, SMALL = 64, BINS = SMALL + 24, HEADER = 8 };

typedef struct link {
    struct link *next;
} link;

typedef struct bump_heap {
    unsigned char *next;
    unsigned char *end;
    link *lists[BINS];
} bump_heap;

static size_t bin_of(size_t size) {
    if (size <= UNIT * SMALL) {
        return (size + UNIT - 1) / UNIT - 1;
    }
    size_t bin = SMALL;
    while (bin < BINS && (size_t)UNIT * SMALL << (bin - SMALL + 1) < size) {
        bin++;
    }
    return bin;
}

static size_t bytes_of(size_t bin) {
    return bin < SMALL ? UNIT * (bin + 1) : (size_t)UNIT * SMALL << (bin - SMALL + 1);
}

void *plugin_init(void *region, size_t size, size_t alignment) {
    bump_heap *heap = region;
    if (size < sizeof *heap || alignment > UNIT) {
        return NULL;
    }
    *heap = (bump_heap){.end = (unsigned char *)region + size};
    heap->next = (unsigned char *)region + (sizeof *heap + UNIT - 1) / UNIT * UNIT;
    return heap;
}

void *plugin_alloc(void *it, size_t size) {
    bump_heap *heap = it;
    const size_t bin = bin_of(size);
    if (bin >= BINS) {
        return NULL;
    }
    link *found = heap->lists[bin];
    if (found != NULL) {
        heap->lists[bin] = found->next;
        return found;
    }
    const size_t left = heap->end > heap->next ? (size_t)(heap->end - heap->next) : 0;
    if (left < HEADER || left - HEADER < bytes_of(bin)) {
        return NULL;
    }
    unsigned char *block = heap->next + HEADER;
    *(uint32_t *)(void *)heap->next = (uint32_t)bin;
    heap->next = block + bytes_of(bin);
    return block;
}

void plugin_free(void *it, void *block) {
    bump_heap *heap = it;
    link *freed = block;
    const uint32_t bin = *(uint32_t *)(void *)((unsigned char *)block - HEADER);
    freed->next = heap->lists[bin];
    heap->lists[bin] = freed;
}
