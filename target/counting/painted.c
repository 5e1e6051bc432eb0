/* SPDX-License-Identifier: Apache-2.0 */
/* How deep calls of a generated heap, of its drop-ins and of the recorder go: the stack below is
 * painted before each, and looked at after it (bench/stacks.py). */
#include "adapters/one_heap.h"
#define APP_HEAP_SITE (1 + at_block % 31) /* of a plan with call sites, malloc passes it */
#include "app_heap.h"
#include "board/semihost.h"
#include <stdint.h>
#ifdef SIZED
#define app_free(block) app_free_sized((block), size)
#endif
void *pvPortMalloc(size_t);
void vPortFree(void *);
void *_malloc_r(void *, size_t);
void _free_r(void *, void *);
void *malloc(size_t);
void free(void *);
void *__wrap_k_malloc(size_t);
void __wrap_k_free(void *);
extern int (*const test_init_PRE_KERNEL_1)(void); /* SYS_INIT's */
enum { PAINT = 1024, PAINTED = 0x5a5aa5a5 };
static void *blocks[256];
static uint32_t sizes[256];
static uint32_t deepest[10];
#define CALL(i, call)                                                                              \
    do {                                                                                           \
        volatile uint32_t *top;                                                                    \
        __asm__ volatile(SP : "=r"(top));                                                          \
        for (volatile uint32_t *at = top - PAINT / 4; at < top; at++) {                            \
            *at = PAINTED;                                                                         \
        }                                                                                          \
        call;                                                                                      \
        volatile uint32_t *at = top - PAINT / 4;                                                   \
        while (at < top && *at == PAINTED) {                                                       \
            at++;                                                                                  \
        }                                                                                          \
        const uint32_t depth = (uint32_t)((uintptr_t)top - (uintptr_t)at);                         \
        deepest[i] = depth > deepest[i] ? depth : deepest[i];                                      \
    } while (0)
#define WALK(i, alloc, release)                                                                    \
    for (int i_block = 0; i_block < 256; i_block++) { /* each makes the heap anew */               \
        blocks[i_block] = NULL;                                                                    \
    }                                                                                              \
    for (int turn = 0; turn < 3000; turn++) {                                                      \
        state = state * 1664525u + 1013904223u;                                                    \
        const uint32_t at_block = state >> 24;                                                     \
        if (blocks[at_block] != NULL) {                                                            \
            void *block = blocks[at_block];                                                        \
            const uint32_t size = sizes[at_block];                                                 \
            (void)size;                                                                            \
            CALL(2 * i + 1, release);                                                              \
            blocks[at_block] = NULL;                                                               \
        } else {                                                                                   \
            const uint32_t size = (4u << (state >> 8 & 7)) + (state >> 12 & 15);                   \
            void *block = NULL;                                                                    \
            CALL(2 * i, block = alloc);                                                            \
            blocks[at_block] = block;                                                              \
            sizes[at_block] = size;                                                                \
        }                                                                                          \
    }
static bool count(void *sink, const void *bytes, size_t size) {
    (void)sink, (void)bytes, (void)size;
    return true;
}
int main(void) {
    uint32_t state = 1;
    if (!app_heap_init()) {
        return 1;
    }
    WALK(0, app_malloc(size), app_free(block))
#ifndef SIZED
    WALK(1, pvPortMalloc(size), vPortFree(block))
#if defined(__arm__)
    WALK(2, _malloc_r(NULL, size), _free_r(NULL, block))
#else
    WALK(2, malloc(size), free(block))
#endif
    (void)test_init_PRE_KERNEL_1();
    WALK(3, __wrap_k_malloc(size), __wrap_k_free(block))
#endif
    for (uint32_t i = 0; i < 3000; i++) {
        CALL(8, hfit_record_alloc(&hfit_one_heap, deepest + (i * 37 & 255), i));
        CALL(9, hfit_record_free(&hfit_one_heap, deepest + (i * 37 & 255)));
        if (i % 64 == 0) {
            (void)hfit_record_drain(&hfit_one_heap, count, NULL);
        }
    }
    for (int i = 0; i < 10; i++) {
        semihost_print_count("seen", deepest[i]);
    }
    return 0;
}

/* ---- What the drop-ins call of their systems: nothing ---- */

void test_assert(int holds);
void test_trace(const void *block, size_t size);
void vApplicationMallocFailedHook(void);
void vTaskSuspendAll(void);
long xTaskResumeAll(void);
unsigned irq_lock(void);
void irq_unlock(unsigned key);
void __real_k_free(void *block);
void __malloc_lock(void *thread);
void __malloc_unlock(void *thread);
int *__errno(void);

void test_assert(int holds) {
    (void)holds;
}

void test_trace(const void *block, size_t size) {
    (void)block, (void)size;
}

void vApplicationMallocFailedHook(void) {}

void vTaskSuspendAll(void) {}

long xTaskResumeAll(void) {
    return 0;
}

unsigned irq_lock(void) {
    return 0;
}

void irq_unlock(unsigned key) {
    (void)key;
}

void __real_k_free(void *block) {
    (void)block;
}

void __malloc_lock(void *thread) {
    (void)thread;
}

void __malloc_unlock(void *thread) {
    (void)thread;
}

void *_impure_ptr;
int errno;

int *__errno(void) {
    return &errno;
}
