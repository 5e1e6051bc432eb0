/* SPDX-License-Identifier: Apache-2.0 */
/* A task of FreeRTOS or ESP-IDF that drains a recorder into a sink, 2 KB of stack. */
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

void hfit_record_start_task(hfit_recorder *recorder, hfit_record_sink *sink, void *context) {
    drained.recorder = recorder;
    drained.sink = sink;
    drained.context = context;
#if configSUPPORT_STATIC_ALLOCATION
    static StackType_t stack[STACK];
    static StaticTask_t task;
    (void)xTaskCreateStatic(drain, "heapfit", STACK, NULL, tskIDLE_PRIORITY + 1, stack, &task);
#else
    (void)xTaskCreate(drain, "heapfit", STACK, NULL, tskIDLE_PRIORITY + 1, NULL);
#endif
}
