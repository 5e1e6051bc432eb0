/* SPDX-License-Identifier: Apache-2.0 */
/* What heap_hfit.c uses of FreeRTOS's headers, declared by ourselves after the kernel's reference:
 * FreeRTOS is in no package registry. */
#ifndef TEST_FREERTOS_H
#define TEST_FREERTOS_H

#include <stddef.h>
#include <stdint.h>

typedef long BaseType_t;
typedef unsigned long UBaseType_t;

#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configSUPPORT_STATIC_ALLOCATION 1
#define configTICK_RATE_HZ 1000
#define configUSE_MALLOC_FAILED_HOOK 1
#ifndef configHEAP_CLEAR_MEMORY_ON_FREE
#define configHEAP_CLEAR_MEMORY_ON_FREE 0
#endif
#ifndef portBYTE_ALIGNMENT
#define portBYTE_ALIGNMENT 8
#endif
void test_assert(int holds);
#define configASSERT(statement) test_assert(statement)
#define configASSERT_DEFINED 1
#define traceMALLOC(block, size) test_trace((block), (size))
#define traceFREE(block, size) test_trace((block), (size))
void test_trace(const void *block, size_t size);

typedef struct xHeapStats {
    size_t xAvailableHeapSpaceInBytes;
    size_t xSizeOfLargestFreeBlockInBytes;
    size_t xSizeOfSmallestFreeBlockInBytes;
    size_t xNumberOfFreeBlocks;
    size_t xMinimumEverFreeBytesRemaining;
    size_t xNumberOfSuccessfulAllocations;
    size_t xNumberOfSuccessfulFrees;
} HeapStats_t;

void vPortGetHeapStats(HeapStats_t *pxHeapStats);
void *pvPortMalloc(size_t xWantedSize);
void *pvPortCalloc(size_t xNum, size_t xSize);
void vPortFree(void *pv);
void vPortInitialiseBlocks(void);
void vPortHeapResetState(void);
size_t xPortGetFreeHeapSize(void);
size_t xPortGetMinimumEverFreeHeapSize(void);
void xPortResetHeapMinimumEverFreeHeapSize(void);

#endif
