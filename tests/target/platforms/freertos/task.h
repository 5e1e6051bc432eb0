/* SPDX-License-Identifier: Apache-2.0 */
/* As FreeRTOS.h beside it. */
#ifndef TEST_ESP_IDF_TASK_H
#define TEST_ESP_IDF_TASK_H

#include <stdint.h>

#define configTICK_RATE_HZ 100
#define configSUPPORT_STATIC_ALLOCATION 1
uint32_t xTaskGetTickCountFromISR(void);

#define tskIDLE_PRIORITY 0
typedef uint32_t StackType_t;
typedef struct {
    int of_no_use;
} StaticTask_t;
void vTaskDelay(uint32_t ticks);
void *xTaskCreateStatic(void (*function)(void *), const char *name, uint32_t depth, void *context,
                        unsigned long priority, StackType_t *stack, StaticTask_t *task);

#endif
