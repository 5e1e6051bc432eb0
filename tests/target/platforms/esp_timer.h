/* SPDX-License-Identifier: Apache-2.0 */
/* As freertos/FreeRTOS.h beside it. */
#ifndef TEST_ESP_TIMER_H
#define TEST_ESP_TIMER_H

#include <stdint.h>

int64_t esp_timer_get_time(void);

#endif
