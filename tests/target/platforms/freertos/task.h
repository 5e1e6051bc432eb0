/* SPDX-License-Identifier: Apache-2.0 */
/* As FreeRTOS.h beside it. */
#ifndef TEST_ESP_IDF_TASK_H
#define TEST_ESP_IDF_TASK_H

#include <stdint.h>

#define configTICK_RATE_HZ 100
uint32_t xTaskGetTickCountFromISR(void);

#endif
