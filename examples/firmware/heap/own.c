/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap that the firmware comes with: free blocks in the order of their addresses, the first
 * that is large enough, joined with free neighbours when one is given back; what many kernels ship.
 */
#include "freertos/FreeRTOS.h"

#include "freertos/task.h"

#include <stdbool.h>
#include <stdint.h>

enum { ALIGNMENT = 8, LEAST_REST = 2 * 8 };
#define USED 0x80000000u

typedef struct block {
    struct block *next; /* the next free one */
    uint32_t size;      /* with this header; USED while it is handed out */
} block;

static uint8_t region[HEAP_BYTES] __attribute__((aligned(ALIGNMENT)));
static block first;
static bool is_ready;

static void make_ready(void) {
    block *const whole = (block *)region;
    *whole = (block){.next = NULL, .size = sizeof region / ALIGNMENT * ALIGNMENT};
    first.next = whole;
    is_ready = true;
}

static void give_back(block *freed) {
    block *before = &first;
    while (before->next && before->next < freed) {
        before = before->next;
    }
    block *const after = before->next;
    freed->next = after;
    if (after && (uint8_t *)freed + freed->size == (uint8_t *)after) {
        freed->next = after->next;
        freed->size += after->size;
    }
    before->next = freed;
    if ((uint8_t *)before + before->size == (uint8_t *)freed) {
        before->next = freed->next;
        before->size += freed->size;
    }
}

static void *take(uint32_t size) {
    block *before = &first;
    while (before->next && before->next->size < size) {
        before = before->next;
    }
    block *const taken = before->next;
    if (!taken) {
        return NULL;
    }
    before->next = taken->next;
    if (taken->size - size > LEAST_REST) {
        block *const rest = (block *)((uint8_t *)taken + size);
        *rest = (block){.next = taken->next, .size = taken->size - size};
        before->next = rest;
        taken->size = size;
    }
    taken->size |= USED;
    return taken + 1;
}

void *pvPortMalloc(size_t size) {
    if (size == 0 || size >= USED) { /* not HEAP_BYTES: a constant's bits would cost instructions */
        return NULL;
    }
    vTaskSuspendAll();
    if (!is_ready) {
        make_ready();
    }
    void *const block_taken =
        take((uint32_t)(size + sizeof(block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    (void)xTaskResumeAll();
    return block_taken;
}

void vPortFree(void *given) {
    if (given) {
        block *const freed = (block *)given - 1;
        vTaskSuspendAll();
        freed->size &= ~USED;
        give_back(freed);
        (void)xTaskResumeAll();
    }
}

/* What is free, headers included, and the largest block of it. */
void vPortGetHeapStats(HeapStats_t *stats) {
    *stats = (HeapStats_t){0};
    for (const block *one = first.next; one; one = one->next) {
        stats->xAvailableHeapSpaceInBytes += one->size;
        stats->xNumberOfFreeBlocks++;
        if (one->size > stats->xSizeOfLargestFreeBlockInBytes) {
            stats->xSizeOfLargestFreeBlockInBytes = one->size;
        }
    }
}
