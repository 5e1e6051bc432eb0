/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's settings under ESP-IDF: -DHFIT_RECORD_CONFIG_FILE="adapters/esp_idf_config.h". */
#ifndef HFIT_RECORD_ESP_IDF_CONFIG_H
#define HFIT_RECORD_ESP_IDF_CONFIG_H

#include <esp_memory_utils.h>
#include <esp_timer.h>
#include <freertos/FreeRTOS.h>

#ifdef CONFIG_HEAPFIT_RECORD_CALL_SITES
#define HFIT_RECORD_CALL_SITES 1
#endif

extern portMUX_TYPE hfit_esp_idf_lock; /* esp_idf.c; a core may take it again */

#define HFIT_RECORD_LOCK() portENTER_CRITICAL_SAFE(&hfit_esp_idf_lock)
#define HFIT_RECORD_UNLOCK() portEXIT_CRITICAL_SAFE(&hfit_esp_idf_lock)
#define HFIT_RECORD_TICKS() ((uint32_t)(esp_timer_get_time() / 1000))
#define HFIT_RECORD_TICK_RATE 1000
#define HFIT_RECORD_SERVED(block) hfit_esp_idf_served(block)

/* Heaps lie in internal or external RAM. What is asked here lies in IRAM, as of ESP-IDF 01942e4e
 * (components/esp_hw_support, linker.lf). */
static inline uint8_t hfit_esp_idf_served(const void *block) {
    const int bytes = esp_ptr_byte_accessible(block) ? 128 : 0;
    if (!esp_ptr_internal(block)) {
        return (uint8_t)(8 | bytes);
    }
    const int dma = esp_ptr_dma_capable(block) ? 2 : 0;
    return (uint8_t)(1 | dma | (esp_ptr_executable(block) ? 4 : 0) | bytes);
}

#endif
