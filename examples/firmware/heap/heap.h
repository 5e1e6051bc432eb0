/* SPDX-License-Identifier: Apache-2.0 */
/* The one door to the heap: all of the firmware asks here. */
#ifndef FIRMWARE_HEAP_H
#define FIRMWARE_HEAP_H

#include <stddef.h>

/* NULL if the heap has no room; never from an interrupt. */
void *firmware_malloc(size_t size);
void firmware_free(void *block);

#endif
