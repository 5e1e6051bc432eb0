/* SPDX-License-Identifier: Apache-2.0 */
/* What the obvious models of best fit share: all chunks in order of address. */
#ifndef CHUNK_LIST_H
#define CHUNK_LIST_H

#include "check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MOST_CHUNKS = 4096 };

typedef struct chunk {
    uint32_t start;
    uint32_t size;
    bool is_used;
    uint64_t freed; /* when it became a free chunk of this size */
} chunk;

typedef struct chunk_list {
    chunk chunks[MOST_CHUNKS];
    size_t count;
    uint64_t now;
} chunk_list;

/* One free chunk. */
static void list_start(chunk_list *l, uint32_t first, uint32_t end) {
    l->chunks[0] = (chunk){first, end - first, false, 0};
    l->count = 1;
    l->now = 0;
}

static size_t index_of(const chunk_list *l, uint32_t start) {
    size_t i = 0;
    while (l->chunks[i].start != start) {
        i++;
        CHECK(i < l->count);
    }
    return i;
}

/* Cuts chunk `i` at `size`; what is behind becomes a free chunk of its own. */
static void cut(chunk_list *l, size_t i, uint32_t size) {
    CHECK(l->count < MOST_CHUNKS);
    memmove(&l->chunks[i + 1], &l->chunks[i], (l->count - i) * sizeof(chunk));
    l->count++;
    l->chunks[i].size = size;
    l->chunks[i + 1].start += size;
    l->chunks[i + 1].size -= size;
    l->chunks[i + 1].is_used = false;
    l->chunks[i + 1].freed = ++l->now;
}

static void join_with_next(chunk_list *l, size_t i) {
    l->chunks[i].size += l->chunks[i + 1].size;
    memmove(&l->chunks[i + 1], &l->chunks[i + 2], (l->count - i - 2) * sizeof(chunk));
    l->count--;
}

#endif
