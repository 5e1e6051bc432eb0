/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's settings under Zephyr: -DHFIT_RECORD_CONFIG_FILE="adapters/zephyr_config.h". */
#ifndef HFIT_RECORD_ZEPHYR_CONFIG_H
#define HFIT_RECORD_ZEPHYR_CONFIG_H

#include <zephyr/irq.h>
#include <zephyr/kernel.h>

#define HFIT_RECORD_LOCK() const unsigned int key_before = irq_lock()
#define HFIT_RECORD_UNLOCK() irq_unlock(key_before)
#define HFIT_RECORD_TICKS() k_uptime_get_32()
#define HFIT_RECORD_TICK_RATE 1000
#ifdef CONFIG_HEAPFIT_RECORD_CALL_SITES
#define HFIT_RECORD_CALL_SITES 1
#endif

#if defined(CONFIG_SHARED_MULTI_HEAP) || defined(CONFIG_MEM_ATTR_HEAP)
uint8_t hfit_zephyr_served(const void *block); /* zephyr_attributes.c */
#define HFIT_RECORD_SERVED(block) hfit_zephyr_served(block)
#endif

#endif
