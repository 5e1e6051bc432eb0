/* SPDX-License-Identifier: Apache-2.0 */
/* As ../irq.h. */
#ifndef TEST_ZEPHYR_MEM_ATTR_H
#define TEST_ZEPHYR_MEM_ATTR_H

#include <stddef.h>
#include <stdint.h>

struct mem_attr_region_t {
    const char *dt_name;
    uintptr_t dt_addr;
    size_t dt_size;
    uint32_t dt_attr;
};

size_t mem_attr_get_regions(const struct mem_attr_region_t **region);

#endif
