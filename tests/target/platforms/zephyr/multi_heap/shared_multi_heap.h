/* SPDX-License-Identifier: Apache-2.0 */
/* As ../irq.h. */
#ifndef TEST_ZEPHYR_SHARED_MULTI_HEAP_H
#define TEST_ZEPHYR_SHARED_MULTI_HEAP_H

#include <stddef.h>
#include <stdint.h>

enum shared_multi_heap_attr {
    SMH_REG_ATTR_CACHEABLE,
    SMH_REG_ATTR_NON_CACHEABLE,
    SMH_REG_ATTR_EXTERNAL,
    SMH_REG_ATTR_NUM,
};

struct shared_multi_heap_region {
    enum shared_multi_heap_attr attr;
    uintptr_t addr;
    size_t size;
};

int shared_multi_heap_add(struct shared_multi_heap_region *region, void *user_data);
void *shared_multi_heap_alloc(enum shared_multi_heap_attr attr, size_t bytes);
void *shared_multi_heap_aligned_alloc(enum shared_multi_heap_attr attr, size_t align, size_t bytes);
void *shared_multi_heap_realloc(enum shared_multi_heap_attr attr, void *ptr, size_t bytes);
void shared_multi_heap_free(void *block);

#endif
