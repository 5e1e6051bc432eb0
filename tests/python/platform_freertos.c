/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls heap_hfit.c as a FreeRTOS program does, and checks what heap_4.c does of each call. Exits
 * with 0, or tells the first line that does not hold.
 */
#include "app_heap.h"

#include <FreeRTOS.h>
#include <task.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(statement)                                                                           \
    do {                                                                                           \
        if (!(statement)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #statement);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { BLOCKS = 40 };

static int suspended, suspensions, refusals, asserts_failed;
static size_t traced;

void vTaskSuspendAll(void) {
    suspended++;
    suspensions++;
}

BaseType_t xTaskResumeAll(void) {
    CHECK(suspended > 0);
    suspended--;
    return 0;
}

void vApplicationMallocFailedHook(void) {
    CHECK(suspended == 0); /* it may do what tasks do */
    refusals++;
}

void test_assert(int holds) {
    asserts_failed += !holds;
}

void test_trace(const void *block, size_t size) {
    CHECK(suspended == 1);
    CHECK(block != NULL || size == 0);
    traced += size;
}

static void check_the_first_request_makes_the_heap(void) {
    CHECK(xPortGetFreeHeapSize() == 0 && xPortGetMinimumEverFreeHeapSize() == 0);
    vPortInitialiseBlocks();
    CHECK(pvPortMalloc(0) == NULL && refusals == 1);
    const size_t empty = xPortGetFreeHeapSize();
    CHECK(empty > APP_HEAP_BYTES * 9 / 10 && empty <= APP_HEAP_BYTES);
    CHECK(xPortGetMinimumEverFreeHeapSize() == empty);
}

static void check_requests(void) {
    const size_t empty = xPortGetFreeHeapSize();
    unsigned char *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = pvPortCalloc(1 + i % 3, 24 + i);
        CHECK(blocks[i] != NULL && (size_t)blocks[i] % portBYTE_ALIGNMENT == 0);
        CHECK(blocks[i][0] == 0 && memcmp(blocks[i], blocks[i] + 1, 23 + i) == 0);
        memset(blocks[i], 0xa5, (1 + i % 3) * (24 + i));
    }
    const size_t least = xPortGetFreeHeapSize();
    CHECK(least < empty - BLOCKS * 24 && xPortGetMinimumEverFreeHeapSize() == least);
    for (size_t i = 0; i < BLOCKS; i += 2) {
        vPortFree(blocks[i]);
    }
    HeapStats_t stats;
    vPortGetHeapStats(&stats);
    CHECK(stats.xNumberOfFreeBlocks >= 2);
    CHECK(stats.xSizeOfSmallestFreeBlockInBytes < stats.xSizeOfLargestFreeBlockInBytes);
    CHECK(stats.xSizeOfLargestFreeBlockInBytes < stats.xAvailableHeapSpaceInBytes);
    CHECK(stats.xNumberOfSuccessfulAllocations == BLOCKS);
    CHECK(stats.xNumberOfSuccessfulFrees == BLOCKS / 2);
    CHECK(stats.xMinimumEverFreeBytesRemaining == least);
    for (size_t i = 1; i < BLOCKS; i += 2) {
        vPortFree(blocks[i]);
    }
    CHECK(xPortGetFreeHeapSize() == empty && xPortGetMinimumEverFreeHeapSize() == least);
    xPortResetHeapMinimumEverFreeHeapSize();
    CHECK(xPortGetMinimumEverFreeHeapSize() == empty);
}

static void check_refusals(void) {
    refusals = 0;
    const size_t free_bytes = xPortGetFreeHeapSize();
    CHECK(pvPortMalloc(APP_HEAP_BYTES) == NULL && refusals == 1);
    CHECK(pvPortMalloc(SIZE_MAX) == NULL && refusals == 2);
    CHECK(pvPortCalloc(SIZE_MAX, 2) == NULL && refusals == 2); /* as heap_4.c */
    CHECK(pvPortCalloc(0, 8) == NULL && refusals == 3);
    CHECK(xPortGetFreeHeapSize() == free_bytes);
}

static void check_frees(void) {
    char *block = pvPortMalloc(40);
    vPortFree(NULL);
    vPortFree(block);
    CHECK(asserts_failed == 0);
    vPortFree(block);
    CHECK(asserts_failed == 1);
    CHECK(app_heap_check());
}

static void check_a_reset(size_t empty) {
    HeapStats_t stats;
    CHECK(pvPortMalloc(40) != NULL);
    vPortHeapResetState();
    CHECK(xPortGetFreeHeapSize() == 0);
    void *block = pvPortMalloc(40);
    CHECK(block != NULL && xPortGetFreeHeapSize() < empty); /* first asked while a block is live */
    vPortGetHeapStats(&stats);
    CHECK(stats.xNumberOfSuccessfulAllocations == 1);
    vPortFree(block);
    CHECK(xPortGetFreeHeapSize() == empty);
}

int main(void) {
    check_the_first_request_makes_the_heap();
    const size_t empty = xPortGetFreeHeapSize();
    check_requests();
    check_refusals();
    check_frees();
    check_a_reset(empty);
    CHECK(suspended == 0 && suspensions > 2 * BLOCKS && traced > BLOCKS * 24);
    return 0;
}
