/* SPDX-License-Identifier: Apache-2.0 */
/* As irq.h beside it. */
#ifndef TEST_ZEPHYR_KERNEL_H
#define TEST_ZEPHYR_KERNEL_H

#include <stdint.h>

uint32_t k_uptime_get_32(void);

#endif
