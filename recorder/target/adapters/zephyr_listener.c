/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records one of Zephyr's heaps by its listener (CONFIG_SYS_HEAP_LISTENER=y), under that heap's
 * lock, for a heap that zephyr.c does not wrap. It passes the bytes that a block can hold, not
 * those that were asked for: build with -DHFIT_RECORD_FLAGS=HFIT_RECORD_ROUNDED, so that the trace
 * says so. A block that realloc moves is recorded as another. Call it before the heap is used:
 *
 *   hfit_record_zephyr_heap(HEAP_ID_FROM_POINTER(&_system_heap.heap));
 */
#include "adapters/one_heap.h"

#if (HFIT_RECORD_FLAGS & HFIT_RECORD_ROUNDED) == 0
#error "Zephyr's listener tells rounded sizes: define HFIT_RECORD_FLAGS as HFIT_RECORD_ROUNDED"
#endif

static void note_alloc(uintptr_t heap, void *block, size_t bytes) {
    (void)heap;
    hfit_record_alloc(&hfit_one_heap, block, bytes);
}

static void note_free(uintptr_t heap, void *block, size_t bytes) {
    (void)heap;
    (void)bytes;
    hfit_record_free(&hfit_one_heap, block);
}

void hfit_record_zephyr_heap(uintptr_t heap) {
    static struct heap_listener on_alloc = {.event = HEAP_ALLOC};
    static struct heap_listener on_free = {.event = HEAP_FREE};
    on_alloc.heap_id = heap;
    on_alloc.alloc_cb = note_alloc;
    on_free.heap_id = heap;
    on_free.free_cb = note_free;
    heap_listener_register(&on_alloc);
    heap_listener_register(&on_free);
}
