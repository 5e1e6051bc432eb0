/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for FreeRTOS's heap_4, written by us: its names, its layout and its rule, so that the
 * repository needs none of its sources. */
#include "heap.h"

#include <stdint.h>

typedef struct link {
    struct link *next;
    size_t size;
} link;

#define USED 0x80000000u

static uint8_t ucHeap[16384];
static link xStart;
static link *pxEnd;
static size_t xFreeBytesRemaining;

void heap_start(void) {
    const uintptr_t first = ((uintptr_t)ucHeap + 7) & ~(uintptr_t)7;
    link *whole = (link *)first;
    pxEnd = (link *)(((uintptr_t)ucHeap + sizeof ucHeap - 8) & ~(uintptr_t)7);
    pxEnd->next = NULL;
    pxEnd->size = 0;
    whole->next = pxEnd;
    whole->size = (size_t)((char *)pxEnd - (char *)whole);
    xStart.next = whole;
    xFreeBytesRemaining = whole->size;
}

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
    const size_t wanted = (size + 8 + 7) & ~(size_t)7;
    link *before = &xStart;
    while (before->next != pxEnd && before->next->size < wanted) {
        before = before->next;
    }
    link *block = before->next;
    if (block == pxEnd) {
        return NULL;
    }
    before->next = block->next;
    if (block->size - wanted > 16) {
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
