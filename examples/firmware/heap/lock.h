/* SPDX-License-Identifier: Apache-2.0 */
/* One task at a time is in the heap; interrupts never are. */
#ifndef FIRMWARE_LOCK_H
#define FIRMWARE_LOCK_H

#ifdef FIRMWARE_LOOP
#define heap_lock() ((void)0)
#define heap_unlock() ((void)0)
#else
#include "kernel/kernel.h"
#define heap_lock() scheduler_lock()
#define heap_unlock() scheduler_unlock()
#endif

/* What a generated heap asks for. */
#define FITTED_HEAP_LOCK() heap_lock()
#define FITTED_HEAP_UNLOCK() heap_unlock()

#endif
