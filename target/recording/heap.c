/* SPDX-License-Identifier: Apache-2.0 */
/* A generated heap behind FreeRTOS's names, in a unit of its own: the linker wraps calls from
 * others. */
#include "replay_heap.c"

#include <FreeRTOS.h>

void *image_resize(void *block, size_t size);
void *image_aligned(uint32_t alignment, size_t size);

static bool is_ready;

static void make_ready(void) {
    if (!is_ready) {
        is_ready = replay_heap_init();
    }
}

void *pvPortMalloc(size_t size) {
    make_ready();
    return replay_malloc(size);
}

void *pvPortCalloc(size_t count, size_t size) {
    make_ready();
    return replay_calloc(count, size);
}

void vPortFree(void *block) {
    replay_free(block);
}

void *image_resize(void *block, size_t size) {
    make_ready();
    return replay_realloc(block, size);
}

void *image_aligned(uint32_t alignment, size_t size) {
    make_ready();
    return replay_aligned_alloc(alignment, size);
}
