/* SPDX-License-Identifier: Apache-2.0 */
/* One task at a time is in the heap; interrupts never are. */
#ifndef FIRMWARE_TASK_H
#define FIRMWARE_TASK_H

#include "kernel/kernel.h"

#define xTaskGetTickCountFromISR() kernel_now()
#ifdef FIRMWARE_LOOP
#define vTaskSuspendAll() ((void)0)
#define xTaskResumeAll() 0
#else
#define vTaskSuspendAll() scheduler_lock()
#define xTaskResumeAll() (scheduler_unlock(), 0)
#endif

#endif
