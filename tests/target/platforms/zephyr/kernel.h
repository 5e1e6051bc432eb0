/* SPDX-License-Identifier: Apache-2.0 */
/* As irq.h beside it. */
#ifndef TEST_ZEPHYR_KERNEL_H
#define TEST_ZEPHYR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

uint32_t k_uptime_get_32(void);
int32_t k_msleep(int32_t ms);

#define K_LOWEST_APPLICATION_THREAD_PRIO 14
#define K_THREAD_DEFINE(name, stack, entry, p1, p2, p3, priority, options, delay)                  \
    void (*const name)(void *, void *, void *) = (entry)

#endif
