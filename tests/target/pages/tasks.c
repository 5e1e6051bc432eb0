/* SPDX-License-Identifier: Apache-2.0 */
/* The application under FreeRTOS: a task that asks, and ends the program. */
#include "app.h"

#include <FreeRTOS.h>
#include <task.h>

static void *held[APP_HELD];

void app_step(int step) {
    vPortFree(held[step % APP_HELD]);
    held[step % APP_HELD] = pvPortMalloc((size_t)(APP_SMALLEST + step));
}

static void work(void *unused) {
    (void)unused;
    for (int i = 0; i < APP_STEPS; i++) {
        app_step(i);
        vTaskDelay(i % 4 == 0 ? 1 : 0);
    }
    before_the_end();
    vTaskDelay(20);
    app_end();
}

void app_start(void) {
    (void)xTaskCreate(work, "work", 256, NULL, 2, NULL);
}
