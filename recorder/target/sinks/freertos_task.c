/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A task of FreeRTOS or ESP-IDF that drains a recorder into a sink, 2 KB of stack. What it is
 * created from is static, so that the recorded heap serves the program alone: where the kernel asks
 * pvPortMalloc for it (configSUPPORT_STATIC_ALLOCATION is 0), whoever stands before that, the
 * adapter or a heap that records itself, hands out these bytes.
 */
#include "record.h"
#include "sinks/sinks.h"

#ifdef ESP_PLATFORM
#include <freertos/FreeRTOS.h>
#include <freertos/task.h>
#else
#include <FreeRTOS.h>
#include <task.h>
#endif

#define STACK (2048 / sizeof(StackType_t))

static struct {
    hfit_recorder *recorder;
    hfit_record_sink *sink;
    void *context;
} drained;

static void drain(void *unused) {
    (void)unused;
    for (unsigned int i = 1;; i++) {
        vTaskDelay(configTICK_RATE_HZ / 200 + 1);
        if (i % 128 == 0) {
            hfit_record_close_frame(drained.recorder);
        }
        (void)hfit_record_drain(drained.recorder, drained.sink, drained.context);
    }
}

static StackType_t stack[STACK] __attribute__((aligned(8)));
static StaticTask_t control __attribute__((aligned(8)));

#if configSUPPORT_STATIC_ALLOCATION
static void create(void) {
    (void)xTaskCreateStatic(drain, "heapfit", STACK, NULL, tskIDLE_PRIORITY + 1, stack, &control);
}
#else
static bool is_creating; /* under the scheduler's lock: no other task asks meanwhile */

void *hfit_record_task_memory(size_t size) {
    if (!is_creating) {
        return NULL;
    }
    return size == sizeof stack ? (void *)stack : size <= sizeof control ? &control : NULL;
}

static void create(void) {
    vTaskSuspendAll();
    is_creating = true;
    (void)xTaskCreate(drain, "heapfit", STACK, NULL, tskIDLE_PRIORITY + 1, NULL);
    is_creating = false;
    (void)xTaskResumeAll();
}
#endif

void hfit_record_start_task(hfit_recorder *recorder, hfit_record_sink *sink, void *context) {
    drained.recorder = recorder;
    drained.sink = sink;
    drained.context = context;
    create();
}
