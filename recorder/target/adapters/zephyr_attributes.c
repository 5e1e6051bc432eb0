/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records what is asked of Zephyr's heaps by attribute: the shared multi heap
 * (CONFIG_SHARED_MULTI_HEAP), and the heaps of memory attributes (CONFIG_MEM_ATTR_HEAP), as one
 * heap, with what each request needs and what the memory offers that served it: that of the
 * devicetree (CONFIG_MEM_ATTR) or the region that was added to the shared multi heap. Link with
 * --wrap of each function below, beside zephyr.c or alone. Interrupts are locked from the call to
 * its record. A heap that a build has not is dropped by the linker, since nobody calls it.
 *
 * Attributes of your own: define both macros, as bits of docs/evidence/schemas.md.
 */
#include "adapters/one_heap.h"

#include <zephyr/dt-bindings/memory-attr/memory-attr-sw.h>
#include <zephyr/irq.h>
#ifdef CONFIG_MEM_ATTR
#include <zephyr/mem_mgmt/mem_attr.h>
#endif
#include <zephyr/mem_mgmt/mem_attr_heap.h>
#include <zephyr/multi_heap/shared_multi_heap.h>

enum { NEEDS_DMA = 2, NEEDS_EXTERNAL = 8, NEEDS_UNCACHED = 64, OFFERS_BYTES = 128 };
enum { MOST_REGIONS = 8 }; /* of the shared multi heap: Zephyr has three attributes */

/* The third attribute is external memory where Zephyr has one; older ones end before it. */
#ifndef HFIT_RECORD_NEEDS_OF_REGION
#define HFIT_RECORD_NEEDS_OF_REGION(attribute)                                                     \
    ((attribute) == SMH_REG_ATTR_NON_CACHEABLE                      ? NEEDS_UNCACHED               \
     : (uint32_t)(attribute) == 2 && (uint32_t)SMH_REG_ATTR_NUM > 2 ? NEEDS_EXTERNAL               \
                                                                    : 0)
#endif
#ifndef HFIT_RECORD_NEEDS_OF_MEMORY
#define HFIT_RECORD_NEEDS_OF_MEMORY(attribute)                                                     \
    (((attribute)&DT_MEM_SW_ALLOC_DMA ? NEEDS_DMA : 0) |                                           \
     ((attribute)&DT_MEM_SW_ALLOC_NON_CACHE ? NEEDS_UNCACHED : 0))
#endif

typedef enum shared_multi_heap_attr region_attribute;

int __real_shared_multi_heap_add(struct shared_multi_heap_region *region, void *user_data);
void *__real_shared_multi_heap_alloc(region_attribute attribute, size_t size);
void *__real_shared_multi_heap_aligned_alloc(region_attribute attribute, size_t alignment,
                                             size_t size);
void *__real_shared_multi_heap_realloc(region_attribute attribute, void *old, size_t size);
void __real_shared_multi_heap_free(void *block);
void *__real_mem_attr_heap_alloc(uint32_t attribute, size_t size);
void *__real_mem_attr_heap_aligned_alloc(uint32_t attribute, size_t alignment, size_t size);
void *__real_mem_attr_heap_realloc(void *old, size_t size);
void __real_mem_attr_heap_free(void *block);
int __wrap_shared_multi_heap_add(struct shared_multi_heap_region *region, void *user_data);
void *__wrap_shared_multi_heap_alloc(region_attribute attribute, size_t size);
void *__wrap_shared_multi_heap_aligned_alloc(region_attribute attribute, size_t alignment,
                                             size_t size);
void *__wrap_shared_multi_heap_realloc(region_attribute attribute, void *old, size_t size);
void __wrap_shared_multi_heap_free(void *block);
void *__wrap_mem_attr_heap_alloc(uint32_t attribute, size_t size);
void *__wrap_mem_attr_heap_aligned_alloc(uint32_t attribute, size_t alignment, size_t size);
void *__wrap_mem_attr_heap_realloc(void *old, size_t size);
void __wrap_mem_attr_heap_free(void *block);

uint8_t hfit_zephyr_served(const void *block);

/* Regions that were added to the shared multi heap. */
static struct shared_multi_heap_region regions[MOST_REGIONS];
static uint32_t region_count;

static bool is_in(const void *block, uintptr_t begin, size_t size) {
    return (uintptr_t)block - begin < size;
}

uint8_t hfit_zephyr_served(const void *block) {
    for (uint32_t i = 0; i < region_count; i++) {
        if (is_in(block, regions[i].addr, regions[i].size)) {
            return (uint8_t)(HFIT_RECORD_NEEDS_OF_REGION(regions[i].attr) | OFFERS_BYTES);
        }
    }
#ifdef CONFIG_MEM_ATTR
    const struct mem_attr_region_t *told;
    for (size_t left = mem_attr_get_regions(&told); left > 0; left--, told++) {
        if (is_in(block, told->dt_addr, told->dt_size)) {
            return (uint8_t)(HFIT_RECORD_NEEDS_OF_MEMORY(told->dt_attr) | OFFERS_BYTES);
        }
    }
#endif
    return 0;
}

int __wrap_shared_multi_heap_add(struct shared_multi_heap_region *region, void *user_data) {
    const int result = __real_shared_multi_heap_add(region, user_data);
    if (result == 0 && region_count < MOST_REGIONS) {
        regions[region_count++] = *region;
    }
    return result;
}

static void record(const void *block, size_t size, size_t alignment, int needs) {
    hfit_record_needs(&hfit_one_heap, (uint8_t)needs);
    if (alignment == 0) {
        hfit_record_alloc(&hfit_one_heap, block, size);
    } else {
        hfit_record_aligned(&hfit_one_heap, block, size, alignment);
    }
}

void *__wrap_shared_multi_heap_alloc(region_attribute attribute, size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_shared_multi_heap_alloc(attribute, size);
    HFIT_RECORD_CALLER();
    record(block, size, 0, HFIT_RECORD_NEEDS_OF_REGION(attribute));
    irq_unlock(before);
    return block;
}

void *__wrap_shared_multi_heap_aligned_alloc(region_attribute attribute, size_t alignment,
                                             size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_shared_multi_heap_aligned_alloc(attribute, alignment, size);
    HFIT_RECORD_CALLER();
    record(block, size, alignment, HFIT_RECORD_NEEDS_OF_REGION(attribute));
    irq_unlock(before);
    return block;
}

/* Newer versions of Zephyr have it. */
void *__wrap_shared_multi_heap_realloc(region_attribute attribute, void *old, size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_shared_multi_heap_realloc(attribute, old, size);
    HFIT_RECORD_CALLER();
    if (size > 0) {
        hfit_record_needs(&hfit_one_heap, HFIT_RECORD_NEEDS_OF_REGION(attribute));
    }
    hfit_record_resize(&hfit_one_heap, old, block, size);
    irq_unlock(before);
    return block;
}

void __wrap_shared_multi_heap_free(void *block) {
    const unsigned int before = irq_lock();
    hfit_record_free(&hfit_one_heap, block);
    __real_shared_multi_heap_free(block);
    irq_unlock(before);
}

void *__wrap_mem_attr_heap_alloc(uint32_t attribute, size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_mem_attr_heap_alloc(attribute, size);
    HFIT_RECORD_CALLER();
    record(block, size, 0, HFIT_RECORD_NEEDS_OF_MEMORY(attribute));
    irq_unlock(before);
    return block;
}

void *__wrap_mem_attr_heap_aligned_alloc(uint32_t attribute, size_t alignment, size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_mem_attr_heap_aligned_alloc(attribute, alignment, size);
    HFIT_RECORD_CALLER();
    record(block, size, alignment, HFIT_RECORD_NEEDS_OF_MEMORY(attribute));
    irq_unlock(before);
    return block;
}

/* It names no attribute: the block needs what it was allocated for. */
void *__wrap_mem_attr_heap_realloc(void *old, size_t size) {
    const unsigned int before = irq_lock();
    void *block = __real_mem_attr_heap_realloc(old, size);
    HFIT_RECORD_CALLER();
    hfit_record_resize(&hfit_one_heap, old, block, size);
    irq_unlock(before);
    return block;
}

void __wrap_mem_attr_heap_free(void *block) {
    const unsigned int before = irq_lock();
    hfit_record_free(&hfit_one_heap, block);
    __real_mem_attr_heap_free(block);
    irq_unlock(before);
}
