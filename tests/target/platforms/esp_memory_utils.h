/* SPDX-License-Identifier: Apache-2.0 */
/* As freertos/FreeRTOS.h beside it; of esp_hw_support. */
#ifndef TEST_ESP_MEMORY_UTILS_H
#define TEST_ESP_MEMORY_UTILS_H

#include <stdbool.h>

bool esp_ptr_internal(const void *p);
bool esp_ptr_dma_capable(const void *p);
bool esp_ptr_executable(const void *p);
bool esp_ptr_byte_accessible(const void *p);

#endif
