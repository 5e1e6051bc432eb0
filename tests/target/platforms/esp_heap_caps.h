/* SPDX-License-Identifier: Apache-2.0 */
/* What the adapter uses of ESP-IDF's header, declared by ourselves after its documentation: ESP-IDF
 * is in no package registry. */
#ifndef TEST_ESP_HEAP_CAPS_H
#define TEST_ESP_HEAP_CAPS_H

#include <stddef.h>
#include <stdint.h>

void esp_heap_trace_alloc_hook(void *ptr, size_t size, uint32_t caps);
void esp_heap_trace_free_hook(void *ptr);

#endif
