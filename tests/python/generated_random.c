/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls of a generated heap by a platform's names, and addresses that are no live block's. A
 * model of the live blocks is compared with each block that is given back and, now and then, with a
 * walk over the whole heap.
 *
 * Usage: random SEED STEPS, compiled with -DBY_FREERTOS, -DBY_LWIP, -DBY_MALLOC or -DBY_ZEPHYR.
 */
#if defined BY_FREERTOS
#include <FreeRTOS.h>
#include <task.h>
#elif defined BY_LWIP
#include "lwipopts_hfit.h"
#elif defined BY_MALLOC
#define _GNU_SOURCE
#include <malloc.h>
#endif
#include "app_heap.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(statement)                                                                           \
    do {                                                                                           \
        if (!(statement)) {                                                                        \
            dprintf(2, "%s:%d: %s, step %u\n", __FILE__, __LINE__, #statement, step);              \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

enum { SLOTS = 48, MOST_SEEN = 64, WALK_EACH = 64, OTHER_BYTES = 1 << 16 };

typedef struct slot {
    unsigned char *block; /* NULL: none */
    size_t size;
    unsigned char fill;
} slot;

static slot slots[SLOTS];
static unsigned char *seen[MOST_SEEN]; /* addresses that were handed out */
static unsigned seen_count, step;
static volatile unsigned told; /* compilers know free, which tells nothing in theirs */
static uint64_t state;
static unsigned char other[OTHER_BYTES]; /* of no heap here */

/* By -DHFIT_ON_MISUSE=misuse_told, where the platform itself tells nothing. */
void misuse_told(const void *heap, unsigned kind, const void *pointer);

void misuse_told(const void *heap, unsigned kind, const void *pointer) {
    CHECK(heap != NULL && kind <= 2 && pointer != NULL);
    told++;
}

static size_t random_below(size_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (size_t)(state >> 24) % limit;
}

/* ---- A platform's names: ask, whose `way` chooses between forms, CLEARED, RESIZED and GIVE. ----
 */

#if defined BY_FREERTOS
#define CLEARED pvPortCalloc
#define GIVE vPortFree
static unsigned suspended;

void vTaskSuspendAll(void) {
    CHECK(suspended++ == 0);
}

BaseType_t xTaskResumeAll(void) {
    CHECK(suspended-- == 1);
    return 0;
}

void vApplicationMallocFailedHook(void) {
    CHECK(suspended == 0);
}

void test_assert(int holds) {
    CHECK(holds || told == 1); /* the heap told it before */
}

void test_trace(const void *block, size_t size) {
    CHECK(suspended == 1 && (block != NULL || size == 0));
}

static void *ask(size_t size, size_t *alignment, unsigned way) {
    (void)way;
    *alignment = portBYTE_ALIGNMENT;
    return pvPortMalloc(size);
}

#elif defined BY_LWIP
#define CLEARED MEM_CUSTOM_CALLOC
#define GIVE MEM_CUSTOM_FREE
static void *ask(size_t size, size_t *alignment, unsigned way) {
    (void)way;
    *alignment = APP_HEAP_ALIGNMENT;
    return MEM_CUSTOM_MALLOC(size);
}

#elif defined BY_ZEPHYR
#define CLEARED __wrap_k_calloc
#define RESIZED __wrap_k_realloc
#define GIVE __wrap_k_free
#define INIT test_init_PRE_KERNEL_1() == 0
extern int (*const test_init_PRE_KERNEL_1)(void);
void *__wrap_k_malloc(size_t size);
void *__wrap_k_calloc(size_t count, size_t size);
void *__wrap_k_aligned_alloc(size_t alignment, size_t size);
void *__wrap_k_realloc(void *block, size_t size);
void __wrap_k_free(void *block);
void __real_k_free(void *block);

/* The kernel's own blocks, and no dead ones of this heap. */
void __real_k_free(void *block) {
    unsigned char *const given = block;
    CHECK(given >= other && given < other + OTHER_BYTES);
    told++;
}

static void *ask(size_t size, size_t *alignment, unsigned way) {
    if (way % 2 == 0) {
        return __wrap_k_aligned_alloc(*alignment, size);
    }
    *alignment = APP_HEAP_ALIGNMENT;
    return __wrap_k_malloc(size);
}

#else
#define CLEARED calloc
#define RESIZED realloc
#define GIVE free
static void *ask_posix(size_t size, size_t alignment) {
    void *block = NULL;
    const int code = posix_memalign(&block, alignment, size);
    CHECK((code == 0) == (block != NULL) && (code == 0 || code == ENOMEM || code == EINVAL));
    CHECK(code != 0 || alignment >= sizeof(void *));
    return block;
}

static void *ask(size_t size, size_t *alignment, unsigned way) {
    const size_t asked = *alignment;
    *alignment = way < 3 ? asked : way < 5 ? (size_t)sysconf(_SC_PAGESIZE) : APP_HEAP_ALIGNMENT;
    switch (way) {
    case 0:
        return memalign(asked, size);
    case 1:
        return aligned_alloc(asked, size);
    case 2:
        return ask_posix(size, asked);
    case 3:
        return valloc(size);
    case 4:
        return pvalloc(size);
    case 5:
        return reallocarray(NULL, size, 1);
    default:
        return malloc(size);
    }
}
#endif

#ifndef INIT
#define INIT app_heap_init()
#endif

/* ---- The model. ---- */

typedef struct walked {
    unsigned live, others;
} walked;

static slot *slot_of(const void *block) {
    for (unsigned i = 0; i < SLOTS; i++) {
        if (slots[i].block == block) {
            return &slots[i];
        }
    }
    return NULL;
}

static void visit(void *context, const void *block, size_t size, bool is_used) {
    walked *const found = context;
    const slot *const known = slot_of(block);
    CHECK(known == NULL || (is_used && size >= known->size));
    found->live += known != NULL;
    found->others += is_used && known == NULL;
}

/* The heap's used blocks are the model's, and those that a C library had before. */
static void compare(unsigned others) {
    walked found = {0, 0};
    unsigned live = 0;
    for (unsigned i = 0; i < SLOTS; i++) {
        live += slots[i].block != NULL;
    }
    app_heap_walk(visit, &found);
    CHECK(found.live == live && found.others == others && app_heap_check());
}

static void check_contents(const slot *slot, size_t size, unsigned char fill) {
    for (size_t i = 0; i < size; i++) {
        CHECK(slot->block[i] == fill);
    }
}

/* Small ones mostly; of the others some are larger than any region and some wrap. */
static size_t random_size(void) {
    static const size_t ends[] = {APP_HEAP_BYTES, PTRDIFF_MAX, SIZE_MAX, SIZE_MAX / 2 + 2};
    switch (random_below(16)) {
    case 0:
        return ends[random_below(4)] - random_below(80);
    case 1:
        return ((size_t)1 << random_below(sizeof(size_t) * 8)) - random_below(3);
    case 2:
        return random_below(APP_HEAP_BYTES / 4);
    default:
        return random_below(300);
    }
}

static void hold(slot *slot, void *block, size_t size) {
    CHECK(size <= APP_HEAP_BYTES && app_usable_size(block) >= size && slot_of(block) == NULL);
    slot->block = block;
    slot->size = size;
    slot->fill = (unsigned char)random_below(256);
    memset(block, slot->fill, size);
    seen[seen_count++ % MOST_SEEN] = block;
}

static void take(slot *slot) {
    const size_t size = random_size();
    size_t alignment = random_below(8) == 0 ? random_below(100) : (size_t)1 << random_below(13);
    void *const block = ask(size, &alignment, (unsigned)random_below(8));
    if (block != NULL) {
        CHECK(alignment == 0 || (uintptr_t)block % alignment == 0);
        hold(slot, block, size);
    }
}

static void take_cleared(slot *slot) {
    const size_t count = random_below(4) == 0 ? random_size() : random_below(40);
    const size_t size = random_below(4) == 0 ? random_size() : random_below(40);
    slot->block = CLEARED(count, size);
    if (slot->block != NULL) {
        unsigned char *const block = slot->block;
        CHECK(count == 0 || size <= APP_HEAP_BYTES / count);
        check_contents(slot, count * size, 0);
        slot->block = NULL;
        hold(slot, block, count * size);
    }
}

static void give(slot *slot) {
    check_contents(slot, slot->size, slot->fill);
    GIVE(slot->block);
    slot->block = NULL;
}

#ifdef RESIZED
static void resize(slot *slot) {
    const size_t size = random_size();
    unsigned char *const block = RESIZED(slot->block, size);
    if (size != 0 && block == NULL) {
        check_contents(slot, slot->size, slot->fill);
        return;
    }
    slot->block = block;
    if (size != 0) {
        check_contents(slot, size < slot->size ? size : slot->size, slot->fill);
        slot->block = NULL;
        hold(slot, block, size);
    }
}
#endif

/* Told once each, and changes nothing, as later steps see. */
static void give_wrong(void) {
    unsigned char *const dead = seen[random_below(MOST_SEEN)];
    const slot *const any = &slots[random_below(SLOTS)];
    const size_t inside = 1 + random_below(any->size > 1 ? any->size - 1 : 1);
    unsigned char *const wrong[] = {dead, any->block == NULL ? NULL : any->block + inside,
                                    other + random_below(OTHER_BYTES)};
    for (unsigned i = 0; i < 3; i++) {
        if (wrong[i] != NULL && slot_of(wrong[i]) == NULL) {
            told = 0;
            GIVE(wrong[i]);
            CHECK(told == 1);
        }
    }
    told = 0;
    GIVE(NULL);
    CHECK(told == 0);
}

static void take_turn(void) {
    slot *const slot = &slots[random_below(SLOTS)];
    if (slot->block == NULL) {
        random_below(4) == 0 ? take_cleared(slot) : take(slot);
        return;
    }
#ifdef RESIZED
    if (random_below(3) == 0) {
        resize(slot);
        return;
    }
#endif
    give(slot);
}

int main(int count, char **words) {
    walked before = {0, 0};
    if (count != 3 || !(app_heap_check() || INIT)) {
        return 2;
    }
    state = strtoull(words[1], NULL, 10);
    app_heap_walk(visit, &before);
    for (const unsigned steps = (unsigned)strtoul(words[2], NULL, 10); step < steps; step++) {
        take_turn();
        if (random_below(8) == 0) {
            give_wrong();
        }
        if (step % WALK_EACH == 0) {
            compare(before.others);
        }
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        if (slots[i].block != NULL) {
            give(&slots[i]);
        }
    }
    compare(before.others);
    return 0;
}
