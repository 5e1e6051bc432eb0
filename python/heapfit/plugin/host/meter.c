/* SPDX-License-Identifier: Apache-2.0 */
/* See meter.h. */
#include "meter.h"

#include "answer.h"
#include "image.h"
#include "region.h"

#include <stdint.h>
#include <string.h>

enum { MOST_STORES = 1 << 16 };

static bool is_counting;
static uint64_t loads;
static uint64_t stores;
static uint64_t payload;
static uint64_t before; /* loads and stores when the call began */

/* Of one call of resize, the stores outside live blocks: some may be into the new one. */
static struct {
    const unsigned char *address;
    size_t size;
} logged[MOST_STORES];
static size_t logged_count;
static bool is_logging;

static bool is_payload(const void *address) {
    return heap_region.uses != NULL && is_inside(address, 1) &&
           heap_region.uses[(const unsigned char *)address - heap_region.start] != BYTE_FREE;
}

static bool is_metadata(const void *address) {
    return is_counting && (is_inside(address, 1) || is_variable(address)) && !is_payload(address);
}

static void note_load(const void *address) {
    loads += is_metadata(address);
}

static void note_store(const void *address, size_t size) {
    if (!is_counting) {
        return;
    }
    if (is_payload(address)) {
        payload += size;
    } else if (is_metadata(address)) {
        stores++;
        if (is_logging && logged_count < MOST_STORES) {
            logged[logged_count].address = address;
            logged[logged_count++].size = size;
        }
    }
}

void begin_call(const void *block, size_t size) {
    (void)size;
    logged_count = 0;
    is_logging = block != NULL;
    before = loads + stores;
    is_counting = true;
}

void end_call(const void *block, size_t kept) {
    is_counting = false;
    for (size_t i = 0; block != NULL && i < logged_count; i++) {
        if ((size_t)(logged[i].address - (const unsigned char *)block) < kept) {
            stores--;
            payload += logged[i].size;
        }
    }
    if (loads + stores - before > told->longest) {
        told->longest = loads + stores - before;
    }
    told->loads = loads;
    told->stores = stores;
    told->payload = payload;
}

/* What the plug-in calls instead of the library's: copies and clears are payload, in bytes. */
void *host_memcpy(void *to, const void *from, size_t size) {
    payload += is_counting && is_inside(to, 1) ? size : 0;
    return memcpy(to, from, size);
}

void *host_memmove(void *to, const void *from, size_t size) {
    payload += is_counting && is_inside(to, 1) ? size : 0;
    return memmove(to, from, size);
}

void *host_memset(void *to, int value, size_t size) {
    payload += is_counting && is_inside(to, 1) ? size : 0;
    return memset(to, value, size);
}

/* The compiler's names, of accesses of so many bytes. */
#define HOOKS(bytes)                                                                               \
    void __tsan_read##bytes(const void *address);                                                  \
    void __tsan_write##bytes(const void *address);                                                 \
    void __tsan_unaligned_read##bytes(const void *address);                                        \
    void __tsan_unaligned_write##bytes(const void *address);                                       \
    void __tsan_read##bytes(const void *address) {                                                 \
        note_load(address);                                                                        \
    }                                                                                              \
    void __tsan_write##bytes(const void *address) {                                                \
        note_store(address, bytes);                                                                \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(const void *address) {                                       \
        note_load(address);                                                                        \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(const void *address) {                                      \
        note_store(address, bytes);                                                                \
    }

HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_init(void);
void __tsan_read_range(const void *address, size_t size);
void __tsan_write_range(const void *address, size_t size);

void __tsan_init(void) {}

void __tsan_read_range(const void *address, size_t size) {
    (void)size;
    note_load(address);
}

void __tsan_write_range(const void *address, size_t size) {
    note_store(address, size);
}
