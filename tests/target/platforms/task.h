/* SPDX-License-Identifier: Apache-2.0 */
/* As FreeRTOS.h beside it. */
#ifndef TEST_TASK_H
#define TEST_TASK_H

void vTaskSuspendAll(void);
BaseType_t xTaskResumeAll(void);

#endif
