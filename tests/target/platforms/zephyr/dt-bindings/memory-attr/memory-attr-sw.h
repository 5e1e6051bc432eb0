/* SPDX-License-Identifier: Apache-2.0 */
/* As ../../irq.h. */
#ifndef TEST_ZEPHYR_MEMORY_ATTR_SW_H
#define TEST_ZEPHYR_MEMORY_ATTR_SW_H

#define DT_MEM_SW_ALLOC_CACHE (1u << 20)
#define DT_MEM_SW_ALLOC_NON_CACHE (2u << 20)
#define DT_MEM_SW_ALLOC_DMA (4u << 20)

#endif
