/* SPDX-License-Identifier: Apache-2.0 */
/* As ../irq.h. */
#ifndef TEST_ZEPHYR_MEM_ATTR_HEAP_H
#define TEST_ZEPHYR_MEM_ATTR_HEAP_H

#include <stddef.h>
#include <stdint.h>

void *mem_attr_heap_alloc(uint32_t attr, size_t bytes);
void *mem_attr_heap_aligned_alloc(uint32_t attr, size_t align, size_t bytes);
void *mem_attr_heap_realloc(void *addr, size_t bytes);
void mem_attr_heap_free(void *block);

#endif
