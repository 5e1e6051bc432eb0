/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAGES_TASK_H
#define PAGES_TASK_H

#include <FreeRTOS.h>

#define tskIDLE_PRIORITY 0

BaseType_t xTaskCreate(void (*function)(void *), const char *name, size_t words, void *context,
                       UBaseType_t priority, StaticTask_t **made);
StaticTask_t *xTaskCreateStatic(void (*function)(void *), const char *name, size_t words,
                                void *context, UBaseType_t priority, StackType_t *stack,
                                StaticTask_t *task);
void vTaskDelay(TickType_t ticks);
void vTaskStartScheduler(void);
void vTaskSuspendAll(void);
BaseType_t xTaskResumeAll(void);
TickType_t xTaskGetTickCountFromISR(void);

#endif
