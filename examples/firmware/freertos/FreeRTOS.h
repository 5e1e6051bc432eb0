/* SPDX-License-Identifier: Apache-2.0 */
/* What a heap for FreeRTOS and its recorder use of that kernel, by this one: none of it is
 * FreeRTOS's own text. */
#ifndef FIRMWARE_FREERTOS_H
#define FIRMWARE_FREERTOS_H

#include "kernel/kernel.h"
#include "kernel/processor.h"

#include <stddef.h>
#include <stdint.h>

typedef uint32_t UBaseType_t;
typedef uint32_t TickType_t;

#define configTICK_RATE_HZ TICKS_PER_SECOND
#define configTOTAL_HEAP_SIZE HEAP_BYTES
#define configSUPPORT_DYNAMIC_ALLOCATION 1
#define configSUPPORT_STATIC_ALLOCATION 1
#define configUSE_MALLOC_FAILED_HOOK 0
#define configASSERT(statement) ((void)0)
#define portBYTE_ALIGNMENT 8
#define portSET_INTERRUPT_MASK_FROM_ISR() mask_interrupts()
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(before) unmask_interrupts(before)
#define traceMALLOC(block, size) ((void)0)
#define traceFREE(block, size) ((void)0)

typedef struct HeapStats_t {
    size_t xAvailableHeapSpaceInBytes;
    size_t xSizeOfLargestFreeBlockInBytes;
    size_t xSizeOfSmallestFreeBlockInBytes;
    size_t xNumberOfFreeBlocks;
    size_t xMinimumEverFreeBytesRemaining;
    size_t xNumberOfSuccessfulAllocations;
    size_t xNumberOfSuccessfulFrees;
} HeapStats_t;

/* NULL if the heap has no room; never from an interrupt. */
void *pvPortMalloc(size_t size);
void *pvPortCalloc(size_t count, size_t size);
void vPortFree(void *block);
size_t xPortGetFreeHeapSize(void);
size_t xPortGetMinimumEverFreeHeapSize(void);
void xPortResetHeapMinimumEverFreeHeapSize(void);
void vPortGetHeapStats(HeapStats_t *stats);
void vPortInitialiseBlocks(void);
void vPortHeapResetState(void);

#endif
