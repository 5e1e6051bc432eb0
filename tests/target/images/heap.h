/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of board.c: one of the sources beside it, a C library's, or a generated one. */
#ifndef IMAGES_HEAP_H
#define IMAGES_HEAP_H

#include <stddef.h>

#ifdef HEAP_HEADER
#include HEAP_HEADER
#define heap_start() ((void)app_heap_init())
#ifdef SIZED
#include <stdint.h>

/* Sizes of blocks, whose addresses stand as their complements, so that none is a reference. */
static struct {
    uintptr_t block;
    size_t size;
} sizes[256];

static void *heap_take(size_t size) {
    void *block = app_malloc(size);
    size_t i = 0;
    while (block != NULL && sizes[i].size != 0) {
        i++;
    }
    if (block != NULL) {
        sizes[i].block = ~(uintptr_t)block;
        sizes[i].size = size;
    }
    return block;
}

static void heap_give(void *block) {
    size_t i = 0;
    while (sizes[i].block != ~(uintptr_t)block) {
        i++;
    }
    app_free_sized(block, sizes[i].size);
    sizes[i].block = sizes[i].size = 0;
}
#else
#define heap_take app_malloc
#define heap_give app_free
#endif
#elif defined(HEAP_IS_LIBC)
#include <stdlib.h>
#define heap_start() ((void)0)
#define heap_take malloc
#define heap_give free
#else
void heap_start(void);
void *heap_take(size_t size);
void heap_give(void *block);
#endif

#endif
