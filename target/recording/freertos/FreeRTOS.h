/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the adapters use of FreeRTOS, declared by ourselves after its published interface (its
 * sources are in no package registry): types and macros of FreeRTOS.h and of a Cortex-M port.
 */
#ifndef TARGET_FREERTOS_H
#define TARGET_FREERTOS_H

#include <stddef.h>
#include <stdint.h>

typedef uint32_t TickType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;

#define configTICK_RATE_HZ ((TickType_t)IMAGE_TICK_RATE)
#define configTOTAL_HEAP_SIZE ((size_t)(64 * 1024))
#define configSUPPORT_STATIC_ALLOCATION 1
#define portBYTE_ALIGNMENT 8

static inline uint32_t ulPortRaiseBASEPRI(void) {
    uint32_t before;
    uint32_t masked;
    __asm__ volatile("mrs %0, basepri\n\tmov %1, #32\n\tmsr basepri, %1\n\tisb\n\tdsb"
                     : "=r"(before), "=r"(masked)
                     :
                     : "memory");
    return before;
}

static inline void vPortSetBASEPRI(uint32_t mask) {
    __asm__ volatile("msr basepri, %0" : : "r"(mask) : "memory");
}

#define portSET_INTERRUPT_MASK_FROM_ISR() ulPortRaiseBASEPRI()
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(mask) vPortSetBASEPRI(mask)

void *pvPortMalloc(size_t size);
void *pvPortCalloc(size_t count, size_t size);
void vPortFree(void *block);

#endif
