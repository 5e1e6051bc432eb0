/* SPDX-License-Identifier: Apache-2.0 */
/* Zephyr's heaps by attribute: each memory is an array that is never used again. */
#include <zephyr/dt-bindings/memory-attr/memory-attr-sw.h>
#include <zephyr/mem_mgmt/mem_attr.h>
#include <zephyr/mem_mgmt/mem_attr_heap.h>
#include <zephyr/multi_heap/shared_multi_heap.h>

enum { MEMORY = 1 << 16, ALIGNMENT = 64 };

static _Alignas(64) char shared[SMH_REG_ATTR_NUM][MEMORY];
static _Alignas(64) char cached[MEMORY], sram[MEMORY];
static size_t used; /* of every memory */

static void *take(char *memory, size_t bytes) {
    char *const block = memory + used;
    used += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return block;
}

int shared_multi_heap_add(struct shared_multi_heap_region *region, void *user_data) {
    (void)user_data;
    region->addr = (uintptr_t)shared[region->attr]; /* the devicetree's on a board */
    region->size = MEMORY;
    return 0;
}

void *shared_multi_heap_alloc(enum shared_multi_heap_attr attr, size_t bytes) {
    return take(shared[attr], bytes);
}

void *shared_multi_heap_aligned_alloc(enum shared_multi_heap_attr attr, size_t align,
                                      size_t bytes) {
    (void)align;
    return take(shared[attr], bytes);
}

void *shared_multi_heap_realloc(enum shared_multi_heap_attr attr, void *ptr, size_t bytes) {
    (void)ptr;
    return take(shared[attr], bytes);
}

void shared_multi_heap_free(void *block) {
    (void)block;
}

size_t mem_attr_get_regions(const struct mem_attr_region_t **region) {
    static struct mem_attr_region_t regions[] = {
        {"cached", 0, MEMORY, DT_MEM_SW_ALLOC_CACHE},
        {"sram", 0, MEMORY, DT_MEM_SW_ALLOC_DMA | DT_MEM_SW_ALLOC_NON_CACHE},
    };
    regions[0].dt_addr = (uintptr_t)cached;
    regions[1].dt_addr = (uintptr_t)sram;
    *region = regions;
    return 2;
}

void *mem_attr_heap_alloc(uint32_t attr, size_t bytes) {
    return take((attr & DT_MEM_SW_ALLOC_CACHE) != 0 ? cached : sram, bytes);
}

void *mem_attr_heap_aligned_alloc(uint32_t attr, size_t align, size_t bytes) {
    (void)align;
    return mem_attr_heap_alloc(attr, bytes);
}

void *mem_attr_heap_realloc(void *addr, size_t bytes) {
    (void)addr;
    return take(sram, bytes);
}

void mem_attr_heap_free(void *block) {
    (void)block;
}
