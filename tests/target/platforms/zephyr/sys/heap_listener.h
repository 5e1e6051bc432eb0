/* SPDX-License-Identifier: Apache-2.0 */
/* What the adapter uses of Zephyr's header, declared by ourselves after its documentation: Zephyr
 * is in no package registry. */
#ifndef TEST_ZEPHYR_HEAP_LISTENER_H
#define TEST_ZEPHYR_HEAP_LISTENER_H

#include <stddef.h>
#include <stdint.h>

enum heap_event_types { HEAP_RESIZE, HEAP_ALLOC, HEAP_FREE, HEAP_REALLOC };

typedef void (*heap_listener_resize_cb_t)(uintptr_t heap_id, void *old_heap_end,
                                          void *new_heap_end);
typedef void (*heap_listener_alloc_cb_t)(uintptr_t heap_id, void *mem, size_t bytes);
typedef void (*heap_listener_free_cb_t)(uintptr_t heap_id, void *mem, size_t bytes);

struct heap_listener {
    struct {
        void *next;
    } node;
    uintptr_t heap_id;
    enum heap_event_types event;
    union {
        heap_listener_alloc_cb_t alloc_cb;
        heap_listener_free_cb_t free_cb;
        heap_listener_resize_cb_t resize_cb;
    };
};

void heap_listener_register(struct heap_listener *listener);

#endif
