/* SPDX-License-Identifier: Apache-2.0 */
/* As freertos/FreeRTOS.h beside it. */
#ifndef TEST_ESP_ROM_SERIAL_OUTPUT_H
#define TEST_ESP_ROM_SERIAL_OUTPUT_H

#include <stdint.h>

int esp_rom_output_tx_one_char(uint8_t character);

#endif
