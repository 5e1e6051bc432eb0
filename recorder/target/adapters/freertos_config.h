/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's settings under FreeRTOS: -DHFIT_RECORD_CONFIG_FILE='"adapters/freertos_config.h"'.
 * Interrupts that may call the kernel wait while one event is written. */
#ifndef HFIT_RECORD_FREERTOS_CONFIG_H
#define HFIT_RECORD_FREERTOS_CONFIG_H

#include <FreeRTOS.h>
#include <task.h>

#define HFIT_RECORD_LOCK() const UBaseType_t mask_before = portSET_INTERRUPT_MASK_FROM_ISR()
#define HFIT_RECORD_UNLOCK() portCLEAR_INTERRUPT_MASK_FROM_ISR(mask_before)
#ifndef HFIT_RECORD_SYSTEM /* 0 where another heap than the kernel's is recorded */
#define HFIT_RECORD_SYSTEM HFIT_RECORD_FREERTOS
#endif
#define HFIT_RECORD_TICKS() ((uint32_t)xTaskGetTickCountFromISR())
#define HFIT_RECORD_TICK_RATE configTICK_RATE_HZ
#define HFIT_RECORD_HEAP_SIZE configTOTAL_HEAP_SIZE
#define HFIT_RECORD_ALIGNMENT_LOG2 (portBYTE_ALIGNMENT >= 8 ? 3 : 2)

#endif
