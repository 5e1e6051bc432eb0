/* SPDX-License-Identifier: Apache-2.0 */
/* As freertos/FreeRTOS.h beside it. */
#ifndef TEST_ESP_ATTR_H
#define TEST_ESP_ATTR_H

#define IRAM_ATTR __attribute__((section(".iram1.test")))

#endif
