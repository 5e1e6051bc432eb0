/* SPDX-License-Identifier: Apache-2.0 */
/* As FreeRTOS.h beside it. */
#ifndef TEST_TASK_H
#define TEST_TASK_H

void vTaskSuspendAll(void);
BaseType_t xTaskResumeAll(void);

#define tskIDLE_PRIORITY 0
typedef uint32_t StackType_t;
typedef struct {
    int of_no_use;
} StaticTask_t;
uint32_t xTaskGetTickCountFromISR(void);
#define portSET_INTERRUPT_MASK_FROM_ISR() 0
#define portCLEAR_INTERRUPT_MASK_FROM_ISR(mask) ((void)(mask))
void vTaskDelay(uint32_t ticks);
void *xTaskCreateStatic(void (*function)(void *), const char *name, uint32_t depth, void *context,
                        unsigned long priority, StackType_t *stack, StaticTask_t *task);

#endif
