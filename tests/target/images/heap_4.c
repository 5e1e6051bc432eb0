/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for FreeRTOS's heap_4, written by us: its names, its layout and its rule, so that the
 * repository needs none of its sources. With -DREGIONS for heap_5, which has two regions. */
#include "heap.h"

#include <stdint.h>

typedef struct link {
    struct link *next;
    size_t size;
} link;

#define USED ((size_t)1 << (8 * sizeof(size_t) - 1))

static link xStart;
static link *pxEnd;
static size_t xFreeBytesRemaining;

/* Puts a region behind the ones that there are. */
static void add(uint8_t *start, size_t size) {
    link *whole = (link *)(((uintptr_t)start + 7) & ~(uintptr_t)7);
    *(pxEnd == NULL ? &xStart.next : &pxEnd->next) = whole;
    pxEnd = (link *)(((uintptr_t)start + size - sizeof(link)) & ~(uintptr_t)7);
    pxEnd->next = NULL;
    pxEnd->size = 0;
    whole->next = pxEnd;
    whole->size = (size_t)((char *)pxEnd - (char *)whole);
    xFreeBytesRemaining += whole->size;
}

#ifdef REGIONS
typedef struct HeapRegion_t {
    uint8_t *start;
    size_t size;
} HeapRegion_t;

static uint8_t memory[16384];
static const HeapRegion_t xHeapRegions[] = {{memory + 3, 6002}, {memory + 8000, 8003}, {NULL, 0}};

void vPortDefineHeapRegions(const HeapRegion_t *regions);

void vPortDefineHeapRegions(const HeapRegion_t *regions) {
    for (; regions->start != NULL; regions++) {
        add(regions->start, regions->size);
    }
}

void heap_start(void) {
    vPortDefineHeapRegions(xHeapRegions);
}
#else
static uint8_t ucHeap[16384];

void heap_start(void) {
    add(ucHeap, sizeof ucHeap);
}
#endif

static void insert(link *block) {
    link *before = &xStart;
    while (before->next < block) {
        before = before->next;
    }
    if ((char *)before + before->size == (char *)block) {
        before->size += block->size;
        block = before;
    }
    if ((char *)block + block->size == (char *)before->next && before->next != pxEnd) {
        block->size += before->next->size;
        block->next = before->next->next;
    } else if (block != before) {
        block->next = before->next;
    }
    if (block != before) {
        before->next = block;
    }
}

void *heap_take(size_t size) {
    const size_t wanted = (size + sizeof(link) + 7) & ~(size_t)7;
    link *before = &xStart;
    while (before->next != pxEnd && before->next->size < wanted) {
        before = before->next;
    }
    link *block = before->next;
    if (block == pxEnd) {
        return NULL;
    }
    before->next = block->next;
    if (block->size - wanted > 2 * sizeof(link)) {
        link *rest = (link *)(void *)((char *)block + wanted);
        rest->size = block->size - wanted;
        block->size = wanted;
        insert(rest);
    }
    xFreeBytesRemaining -= block->size;
    block->size |= USED;
    block->next = NULL;
    return block + 1;
}

void heap_give(void *given) {
    link *block = (link *)given - 1;
    block->size &= ~USED;
    xFreeBytesRemaining += block->size;
    insert(block);
}
