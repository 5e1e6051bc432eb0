/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's settings under ESP-IDF: -DHFIT_RECORD_CONFIG_FILE="adapters/esp_idf_config.h". */
#ifndef HFIT_RECORD_ESP_IDF_CONFIG_H
#define HFIT_RECORD_ESP_IDF_CONFIG_H

#include <esp_timer.h>
#include <freertos/FreeRTOS.h>

extern portMUX_TYPE hfit_esp_idf_lock; /* esp_idf.c; a core may take it again */

#define HFIT_RECORD_LOCK() portENTER_CRITICAL_SAFE(&hfit_esp_idf_lock)
#define HFIT_RECORD_UNLOCK() portEXIT_CRITICAL_SAFE(&hfit_esp_idf_lock)
#define HFIT_RECORD_TICKS() ((uint32_t)(esp_timer_get_time() / 1000))
#define HFIT_RECORD_TICK_RATE 1000

#endif
