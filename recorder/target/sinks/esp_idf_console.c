/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to ESP-IDF's console as they are: no CR LF for LF, and no memory asked for. */
#include "sinks/sinks.h"

#include <esp_rom_serial_output.h>

bool hfit_record_to_esp_idf_console(void *unused, const void *bytes, size_t size) {
    const uint8_t *next = bytes;
    (void)unused;
    for (const uint8_t *end = next + size; next < end; next++) {
        (void)esp_rom_output_tx_one_char(*next);
    }
    return true;
}
