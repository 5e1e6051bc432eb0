/* SPDX-License-Identifier: Apache-2.0 */
/* What the adapters use of FreeRTOS's task.h, declared by ourselves. */
#ifndef TARGET_FREERTOS_TASK_H
#define TARGET_FREERTOS_TASK_H

#include <FreeRTOS.h>

void vTaskSuspendAll(void);
BaseType_t xTaskResumeAll(void);
TickType_t xTaskGetTickCountFromISR(void);

#endif
