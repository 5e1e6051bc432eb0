/* SPDX-License-Identifier: Apache-2.0 */
/* The one recorder of a firmware; nothing has to be called before it records. */
#include "adapters/one_heap.h"

_Static_assert(HFIT_RECORD_RING_SIZE >= 2 * HFIT_RECORD_FRAME_SIZE && HFIT_RECORD_RING_SIZE < 65536,
               "HFIT_RECORD_RING_SIZE has room for two frames and is less than 64 KiB");

static uint8_t hfit_one_heap_ring[HFIT_RECORD_RING_SIZE];

static const hfit_record_about about = {
    .ring = hfit_one_heap_ring,
    .ring_size = HFIT_RECORD_RING_SIZE,
    .heap_base = HFIT_RECORD_HEAP_BASE,
    .heap_size = HFIT_RECORD_HEAP_SIZE,
    .tick_rate = HFIT_RECORD_TICK_RATE,
    .flags = HFIT_RECORD_FLAGS | HFIT_RECORD_SYSTEM,
};

hfit_recorder hfit_one_heap = HFIT_RECORDER(about, hfit_one_heap_ring, HFIT_RECORD_HEAP_BASE);
