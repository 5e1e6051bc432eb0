/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of a firmware's one heap, with its ring, as the adapters beside this file use it. It
 * records from the first call on. The firmware drains it:
 *
 *   (void)hfit_record_drain(&hfit_one_heap, hfit_record_to_semihosting, NULL);
 */
#ifndef HFIT_RECORD_ONE_HEAP_H
#define HFIT_RECORD_ONE_HEAP_H

#include "record.h"

/* What a build may set beside the macros of record.h. */
#ifndef HFIT_RECORD_RING_SIZE
#define HFIT_RECORD_RING_SIZE (HFIT_RECORD_CALL_SITES ? 9216 : 6144) /* bytes of RAM */
#endif
#ifndef HFIT_RECORD_HEAP_BASE
#define HFIT_RECORD_HEAP_BASE hfit_one_heap_ring /* in the same RAM as most heaps */
#endif
#ifndef HFIT_RECORD_HEAP_SIZE
#define HFIT_RECORD_HEAP_SIZE 0
#endif
#ifndef HFIT_RECORD_TICK_RATE
#define HFIT_RECORD_TICK_RATE 0
#endif
#ifndef HFIT_RECORD_FLAGS
#define HFIT_RECORD_FLAGS 0 /* or HFIT_RECORD_ROUNDED */
#endif
#ifndef HFIT_RECORD_SYSTEM /* HFIT_RECORD_LWIP and so on; 0 = unknown */
#if defined(__ZEPHYR__)
#define HFIT_RECORD_SYSTEM HFIT_RECORD_ZEPHYR
#elif defined(ESP_PLATFORM)
#define HFIT_RECORD_SYSTEM HFIT_RECORD_ESP_IDF
#else
#define HFIT_RECORD_SYSTEM 0
#endif
#endif

#ifdef CONFIG_SYS_HEAP_LISTENER
#include <zephyr/sys/heap_listener.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

extern hfit_recorder hfit_one_heap;

#ifdef CONFIG_SYS_HEAP_LISTENER /* in zephyr_listener.c */
/* Records a heap of Zephyr's from then on, by HEAP_ID_FROM_POINTER(&heap.heap). */
void hfit_record_zephyr_heap(uintptr_t heap);
#endif

#ifdef __cplusplus
}
#endif

/* In a function that stands before one of the heap's: where the request comes from that it records
 * next, unless a function above has told it. Under the lock that its record is made under. */
#if HFIT_RECORD_CALL_SITES
#define HFIT_RECORD_CALLER()                                                                       \
    (hfit_one_heap.site == 0 ? hfit_record_site(&hfit_one_heap, __builtin_return_address(0))       \
                             : (void)0)
#else
#define HFIT_RECORD_CALLER() ((void)0)
#endif

#endif
