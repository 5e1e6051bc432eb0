/* SPDX-License-Identifier: Apache-2.0 */
/* ESP-IDF's capabilities, as of v5.5 (components/heap/include/esp_heap_caps.h). */
#if CONFIG_HEAP_HAS_EXEC_HEAP
#define MALLOC_CAP_EXEC (1 << 0)
#endif
#define MALLOC_CAP_8BIT (1 << 2)
#define MALLOC_CAP_DMA (1 << 3)
#define MALLOC_CAP_SPIRAM (1 << 10)
#define MALLOC_CAP_INTERNAL (1 << 11)
#define MALLOC_CAP_DEFAULT (1 << 12)
