/* SPDX-License-Identifier: Apache-2.0 */
/* Asks Zephyr's heaps by attribute for memory, and prints the frames of the recorder. */
#include <stdio.h>
#include <stdlib.h>

#include <zephyr/dt-bindings/memory-attr/memory-attr-sw.h>
#include <zephyr/mem_mgmt/mem_attr_heap.h>
#include <zephyr/multi_heap/shared_multi_heap.h>

#include <zephyr/kernel.h>

#include "adapters/one_heap.h"

unsigned int irq_lock(void) {
    return 0;
}

void irq_unlock(unsigned int key) {
    (void)key;
}

uint32_t k_uptime_get_32(void) {
    return 0;
}

static bool print(void *context, const void *bytes, size_t size) {
    (void)context;
    return fwrite(bytes, 1, size, stdout) == size;
}

/* External memory is added before the recorder sees it: it is not known. */
static void add_regions(void) {
    for (int attr = 0; attr < 2; attr++) {
        struct shared_multi_heap_region region = {.attr = (enum shared_multi_heap_attr)attr};
        (void)shared_multi_heap_add(&region, NULL);
    }
}

int main(void) {
    add_regions();
    void *plain = shared_multi_heap_alloc(SMH_REG_ATTR_CACHEABLE, 100);
    void *frame = shared_multi_heap_alloc(SMH_REG_ATTR_EXTERNAL, 5000);
    void *ring = shared_multi_heap_aligned_alloc(SMH_REG_ATTR_NON_CACHEABLE, 64, 300);
    frame = shared_multi_heap_realloc(SMH_REG_ATTR_EXTERNAL, frame, 9000);
    shared_multi_heap_free(plain);
    void *packet = mem_attr_heap_alloc(DT_MEM_SW_ALLOC_DMA, 1500);
    void *both =
        mem_attr_heap_aligned_alloc(DT_MEM_SW_ALLOC_DMA | DT_MEM_SW_ALLOC_NON_CACHE, 32, 64);
    packet = mem_attr_heap_realloc(packet, 1600);
    mem_attr_heap_free(mem_attr_heap_alloc(DT_MEM_SW_ALLOC_CACHE, 40));
    mem_attr_heap_free(packet);
    shared_multi_heap_free(frame);
    shared_multi_heap_free(ring);
    mem_attr_heap_free(both);
    hfit_record_close_frame(&hfit_one_heap);
    return hfit_record_drain(&hfit_one_heap, print, NULL) ? 0 : 1;
}
