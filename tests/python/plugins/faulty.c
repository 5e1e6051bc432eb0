/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First fit over chunks with a header of 8 bytes, sound when built with FAULT=NONE; any other of
 * the names below makes just that fault, after a few requests that are served well.
 */
#include "heapfit_plugin.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NONE,
    OVERLAP,
    MISALIGNED,
    OUTSIDE,
    TOO_SMALL,
    HEADER_IN_PAYLOAD,
    RESIZE_LOSES,
    NEVER_REUSED,
    NULL_CHANGES,
    ALIGNMENT_IGNORED,
    MALLOC,
    ENDLESS,
    ABORTS,
    CRASH,
    SLEEPS,
    OVERFLOWS,
};

enum { HEADER = 8, LEAST = 2 * HEADER, SOUND_REQUESTS = 20 };

typedef struct chunk {
    uint32_t size; /* header included */
    uint32_t is_used;
} chunk;

typedef struct heap {
    unsigned char *first;
    unsigned char *end;
    unsigned char *last_block;
    size_t requests;
} heap;

static bool is_due(const heap *h, int fault) {
    return FAULT == fault && h->requests > SOUND_REQUESTS;
}

static chunk *header_of(void *block) {
    return (chunk *)(void *)((unsigned char *)block - HEADER);
}

static chunk *next_of(chunk *c) {
    return (chunk *)(void *)((unsigned char *)c + c->size);
}

void *plugin_init(void *region, size_t size, size_t alignment) {
    if (size < sizeof(heap) + 64 || alignment > 8) {
        return NULL;
    }
    heap *h = region;
    h->first = (unsigned char *)region + (sizeof(heap) + 7) / 8 * 8;
    h->end = (unsigned char *)region + size / 8 * 8;
    *(chunk *)(void *)h->first = (chunk){(uint32_t)(h->end - h->first), 0};
    return h;
}

/* Joins a free chunk with all free ones behind it. */
static void join(const heap *h, chunk *c) {
    while (!c->is_used && (unsigned char *)next_of(c) < h->end && !next_of(c)->is_used) {
        c->size += next_of(c)->size;
    }
}

/* Cuts `size` bytes off the front; what is too little for a chunk stays with it. */
static chunk *cut(chunk *c, size_t size) {
    if (c->size - size >= LEAST) {
        chunk *rest = (chunk *)(void *)((unsigned char *)c + size);
        *rest = (chunk){c->size - (uint32_t)size, c->is_used};
        c->size = (uint32_t)size;
        return rest;
    }
    return NULL;
}

/* Bytes before the first place in a free chunk where a header can lie before an aligned block. */
static size_t gap_in(const chunk *c, size_t alignment) {
    size_t gap = 0;
    while (((uintptr_t)c + gap + HEADER) % alignment != 0 || (gap != 0 && gap < LEAST)) {
        gap += 8;
    }
    return gap;
}

static void *take(heap *h, size_t alignment, size_t size) {
    const size_t bytes = ((size + 7) & ~(size_t)7) + HEADER;
    for (chunk *c = (chunk *)(void *)h->first; (unsigned char *)c < h->end; c = next_of(c)) {
        join(h, c);
        const size_t gap = gap_in(c, alignment);
        if (c->is_used || c->size < gap + bytes) {
            continue;
        }
        chunk *taken = gap == 0 ? c : cut(c, gap);
        (void)cut(taken, bytes);
        taken->is_used = 1;
        return (unsigned char *)taken + HEADER;
    }
    return NULL;
}

static void be_wrong(const heap *h) {
    static void *volatile other;
    if (is_due(h, MALLOC)) {
        other = malloc(64);
    }
    if (is_due(h, SLEEPS)) {
        pause();
    }
    if (is_due(h, ABORTS)) {
        abort();
    }
    if (is_due(h, CRASH)) {
        *(volatile int *)8 = 1;
    }
    for (volatile int i = 0; is_due(h, ENDLESS); i++) {
    }
    if (is_due(h, HEADER_IN_PAYLOAD) && h->last_block != NULL) {
        h->last_block[1] ^= 0x55;
    }
}

static void *wrong(heap *h, unsigned char *block, size_t size) {
    unsigned char *before = h->last_block;
    h->last_block = block;
    if (is_due(h, OVERLAP) && before != NULL) {
        return before;
    }
    if (is_due(h, OUTSIDE)) {
        return h->end + 64;
    }
    return is_due(h, MISALIGNED) && size < 64 ? block + 4 : block;
}

void *plugin_alloc(void *heap_of, size_t size) {
    heap *h = heap_of;
    h->requests++;
    be_wrong(h);
    if (size > (size_t)(h->end - h->first) && FAULT != OVERFLOWS) {
        return NULL;
    }
    const size_t asked = is_due(h, TOO_SMALL) && size > 24 ? size - 16 : size;
    unsigned char *block = take(h, 8, asked);
    return block == NULL ? NULL : wrong(h, block, size);
}

void *plugin_alloc_aligned(void *heap_of, size_t alignment, size_t size) {
    heap *h = heap_of;
    if (size > (size_t)(h->end - h->first) || alignment > (size_t)(h->end - h->first)) {
        return NULL;
    }
    return take(h, FAULT == ALIGNMENT_IGNORED ? 8 : alignment, size);
}

void plugin_free(void *heap_of, void *block) {
    heap *h = heap_of;
    h->last_block = NULL;
    if (FAULT != NEVER_REUSED) {
        header_of(block)->is_used = 0;
    }
}

void *plugin_resize(void *heap_of, void *block, size_t size) {
    heap *h = heap_of;
    const size_t old = header_of(block)->size - HEADER;
    void *made = plugin_alloc(heap_of, size);
    if (made == NULL) {
        if (FAULT == NULL_CHANGES) {
            memset(block, 0, old);
        }
        return NULL;
    }
    memcpy(made, block, (old < size ? old : size) / (FAULT == RESIZE_LOSES ? 2 : 1));
    plugin_free(h, block);
    return made;
}
