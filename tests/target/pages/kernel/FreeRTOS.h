/* SPDX-License-Identifier: Apache-2.0 */
/* The names of FreeRTOS.h that the recorder and the application use, for the kernel beside it. */
#ifndef PAGES_FREERTOS_H
#define PAGES_FREERTOS_H

#include <stddef.h>
#include <stdint.h>

#include "FreeRTOSConfig.h"

typedef uint32_t TickType_t;
typedef uint32_t StackType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;

#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configASSERT(statement) ((void)(statement))
#define traceMALLOC(block, size) ((void)0)
#define traceFREE(block, size) ((void)0)
#define portBYTE_ALIGNMENT 8
#define portSET_INTERRUPT_MASK_FROM_ISR() 0
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(before) ((void)(before))

typedef struct StaticTask_t {
    uint32_t *stack;
    TickType_t due;
    struct StaticTask_t *next;
    void (*function)(void *context);
    void *context;
} StaticTask_t;

typedef struct HeapStats_t {
    size_t xAvailableHeapSpaceInBytes;
    size_t xSizeOfLargestFreeBlockInBytes;
    size_t xSizeOfSmallestFreeBlockInBytes;
    size_t xNumberOfFreeBlocks;
    size_t xMinimumEverFreeBytesRemaining;
    size_t xNumberOfSuccessfulAllocations;
    size_t xNumberOfSuccessfulFrees;
} HeapStats_t;

void *pvPortMalloc(size_t size);
void *pvPortCalloc(size_t count, size_t size);
void vPortFree(void *block);
size_t xPortGetFreeHeapSize(void);
size_t xPortGetMinimumEverFreeHeapSize(void);

#endif
