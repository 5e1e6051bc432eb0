/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's heap: the C library's. */
#include <FreeRTOS.h>
#include <stdlib.h>

void *pvPortMalloc(size_t size) {
    return malloc(size);
}

void *pvPortCalloc(size_t count, size_t size) {
    return calloc(count, size);
}

void vPortFree(void *block) {
    free(block);
}
