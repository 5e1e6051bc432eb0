/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stand-ins for the heaps of lwIP, Zephyr and ESP-IDF, written by us after their published layouts:
 * headers, names and counters are theirs, the rule is a plain first fit. -DLWIP, -DZEPHYR,
 * -DESP_IDF chooses one, -DPOISONED the last with poisoning, -DMOVED one whose structs have more
 * members, with lwIP's overflow checks and Zephyr's k_malloc; what each defines is where a chunk
 * ends, whether it is used, and how that is written.
 */
#include "heap.h"

#include <stdbool.h>
#include <stdint.h>

enum { BYTES = 16384 };

#ifdef MOVED
#define MORE(member) member;
#else
#define MORE(member)
#endif

static _Alignas(8) uint8_t ram_heap[BYTES + 64];

static uint32_t *word_at(uintptr_t address) {
    return (uint32_t *)address;
}

#if defined(LWIP)
typedef struct mem {
    uint16_t next;
    uint16_t prev;
    uint8_t used;
    MORE(uint16_t user_size) /* with overflow checks */
} mem;

#ifdef MOVED
enum { HEADER = 24, STEP = 4, LEAST = 20 };
#else
enum { HEADER = 8, STEP = 4, LEAST = 20 };
#endif
static uint8_t *ram;
static mem *ram_end;
static mem *volatile lfree;

static uintptr_t end_of(uintptr_t chunk) {
    return (uintptr_t)ram + ((mem *)chunk)->next;
}

static bool is_used(uintptr_t chunk) {
    return ((mem *)chunk)->used != 0;
}

static void put(uintptr_t chunk, uintptr_t end, bool used) {
    ((mem *)chunk)->next = (uint16_t)(end - (uintptr_t)ram);
    ((mem *)chunk)->used = used;
    if (end != (uintptr_t)ram_end) {
        ((mem *)end)->prev = (uint16_t)(chunk - (uintptr_t)ram);
    }
}

static uintptr_t first_chunk(void) {
    return (uintptr_t)ram;
}

static uintptr_t heap_end(void) {
    return (uintptr_t)ram_end;
}

void *mem_malloc(uint16_t size);

void *mem_malloc(uint16_t size) {
    return heap_take(size);
}

void heap_start(void) {
    ram = ram_heap;
    ram_end = (mem *)(void *)(ram_heap + BYTES);
    ram_end->used = 1;
    ram_end->next = BYTES;
    lfree = (mem *)(void *)ram;
    put((uintptr_t)ram, (uintptr_t)ram_end, false);
}

#elif defined(ZEPHYR)
typedef struct z_heap {
    uint32_t chunk0_hdr[2];
    MORE(uint32_t other[2])
    uint32_t end_chunk;
    uint32_t avail_buckets;
    uint32_t buckets[12];
} z_heap;

typedef struct k_heap {
    z_heap *heap;
    void *init_mem;
    size_t init_bytes;
} k_heap;

enum { HEADER = 4, STEP = 8, LEAST = 16 };
k_heap _system_heap;

void *sys_heap_alloc(k_heap *heap, size_t size);

static uint16_t *fields(uintptr_t chunk) {
    return (uint16_t *)chunk;
}

static uintptr_t end_of(uintptr_t chunk) {
    return chunk + 8u * (fields(chunk)[1] >> 1);
}

static bool is_used(uintptr_t chunk) {
    return (fields(chunk)[1] & 1) != 0;
}

static void put(uintptr_t chunk, uintptr_t end, bool used) {
    fields(chunk)[1] = (uint16_t)((end - chunk) / 8 << 1 | used);
    fields(end)[0] = (uint16_t)((end - chunk) / 8);
}

static uintptr_t first_chunk(void) {
    return end_of((uintptr_t)_system_heap.heap);
}

static uintptr_t heap_end(void) {
    return (uintptr_t)_system_heap.heap + 8 * _system_heap.heap->end_chunk;
}

void heap_start(void) {
    z_heap *heap = (z_heap *)(void *)ram_heap;
    _system_heap.heap = heap;
    heap->end_chunk = BYTES / 8;
    put((uintptr_t)heap, (uintptr_t)(heap + 1), true);
    put((uintptr_t)(heap + 1), heap_end(), false);
    fields(heap_end())[1] = 1;
}

void *sys_heap_alloc(k_heap *heap, size_t size) {
    (void)heap;
    return heap_take(size);
}

#elif defined(ESP_IDF)
typedef struct multi_heap_info {
    MORE(void *other)
    void *lock;
    size_t free_bytes;
    size_t minimum_free_bytes;
    size_t pool_size;
    uint32_t *heap_data;
} multi_heap;

typedef struct heap_t_ {
    uint32_t caps[3];
    MORE(uint32_t other)
    intptr_t start;
    intptr_t end;
    uint32_t mux[2];
    multi_heap *heap;
    struct heap_t_ *next;
} heap_t;

typedef struct control_t {
    uint32_t index[5];
    MORE(uint32_t other)
    uint32_t size;
} control_t;

enum { HEADER = 8, STEP = 4, LEAST = 16, CONTROL = 96 };
static heap_t main_heap;
heap_t *registered_heaps = &main_heap;

static uintptr_t end_of(uintptr_t chunk) {
    return chunk + (word_at(chunk)[1] & ~3u) + 4;
}

static bool is_used(uintptr_t chunk) {
    return (word_at(chunk)[1] & 1) == 0;
}

static void put(uintptr_t chunk, uintptr_t end, bool used) {
    const uint32_t before = word_at(chunk)[1] & 2;
    word_at(chunk)[1] = (uint32_t)(end - chunk - 4) | before | !used;
    word_at(end)[1] = (word_at(end)[1] & ~2u) | (used ? 0u : 2u);
    if (!used) {
        word_at(end)[0] = (uint32_t)chunk;
    }
}

static uintptr_t first_chunk(void) {
    return (uintptr_t)main_heap.heap->heap_data + CONTROL - 4;
}

static uintptr_t heap_end(void) {
    return (uintptr_t)main_heap.heap->heap_data + main_heap.heap->pool_size - 8;
}

void heap_caps_init(void);

void heap_caps_init(void) {
    heap_start();
}

void heap_start(void) {
    multi_heap *heap = (multi_heap *)(void *)ram_heap;
    main_heap.heap = heap;
    heap->heap_data = (uint32_t *)(heap + 1);
    ((control_t *)(void *)heap->heap_data)->size = CONTROL;
    heap->pool_size = BYTES - sizeof *heap;
    heap->free_bytes = heap->pool_size - CONTROL;
    word_at(heap_end())[1] = 0;
    put(first_chunk(), heap_end(), false);
}
#endif

static void count(intptr_t more) {
#if defined(ESP_IDF)
    main_heap.heap->free_bytes += (size_t)more;
#else
    (void)more;
#endif
}

#if defined(POISONED)
/* What ESP-IDF's poisoning puts before and behind a block. */
enum { HEAD = 8, POISON = HEAD + 4 };

static void *poisoned(unsigned char *block, size_t size) {
    const uint32_t head = 0xABBA1234;
    const uint32_t tail = 0xBAAD5678;
    __builtin_memcpy(block, &head, 4);
    __builtin_memcpy(block + 4, &size, 4);
    __builtin_memcpy(block + HEAD + size, &tail, 4);
    return block + HEAD;
}
#elif defined(LWIP) && defined(MOVED)
/* What MEM_OVERFLOW_CHECK of lwIP puts there. */
enum { HEAD = 0, POISON = 16 };

static void *poisoned(unsigned char *block, size_t size) {
    ((mem *)(void *)(block - HEADER))->user_size = (uint16_t)size;
    for (size_t i = 0; i < POISON; i++) {
        block[i - POISON] = block[size + i] = 0xCD;
    }
    return block;
}
#elif defined(ZEPHYR) && defined(MOVED)
/* What k_malloc puts there: the heap that it is of. */
enum { HEAD = 4, POISON = HEAD };

static void *poisoned(unsigned char *block, size_t size) {
    (void)size;
    *word_at((uintptr_t)block) = (uint32_t)(uintptr_t)&_system_heap;
    return block + HEAD;
}
#else
enum { HEAD = 0, POISON = 0 };

static void *poisoned(unsigned char *block, size_t size) {
    (void)size;
    return block;
}
#endif

void *heap_take(size_t size) {
    size_t wanted = (size + POISON + HEADER + STEP - 1) / STEP * STEP;
#if defined(ESP_IDF)
    wanted -= 4; /* a block ends where the next one's first word does */
#endif
    wanted = wanted < LEAST ? LEAST : wanted;
    for (uintptr_t at = first_chunk(); at != heap_end(); at = end_of(at)) {
        const uintptr_t end = end_of(at);
        if (is_used(at) || end - at < wanted) {
            continue;
        }
        if (end - at >= wanted + LEAST) {
            put(at, at + wanted, true);
            word_at(at + wanted)[1] = 0;
            put(at + wanted, end, false);
        }
        put(at, end_of(at), true);
        count(-(intptr_t)(end_of(at) - at));
        return poisoned((unsigned char *)(at + HEADER), size);
    }
    return NULL;
}

void heap_give(void *block) {
    uintptr_t at = (uintptr_t)block - HEADER - HEAD;
    count((intptr_t)(end_of(at) - at));
    put(at, end_of(at), false);
    for (at = first_chunk(); at != heap_end();) {
        const uintptr_t next = end_of(at);
        if (next != heap_end() && !is_used(at) && !is_used(next)) {
            put(at, end_of(next), false);
        } else {
            at = next;
        }
    }
}
