/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host build of core: counts every metadata access and remembers every misuse, per thread. All
 * heaps check the words that they are about to change.
 *
 * C, since core includes it; the engine reads the same counters, heapfit_counts.
 */
#ifndef HEAPFIT_METERED_CONFIG_H
#define HEAPFIT_METERED_CONFIG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* __thread, not C++'s thread_local: that goes through a function that might have to initialise the
 * variable first. */
#define HEAPFIT_THREAD_LOCAL __thread

typedef struct heapfit_access_counts {
    uint64_t loads;   /* of one 32-bit metadata word */
    uint64_t stores;  /* of one 32-bit metadata word */
    uint64_t payload; /* bytes copied or zeroed by the allocator */
    uint64_t misuses; /* blocks refused by free or resize */
} heapfit_access_counts;

/* initial-exec: the counters are touched several times an event, so no call may stand in between.
 */
extern HEAPFIT_THREAD_LOCAL heapfit_access_counts heapfit_counts
    __attribute__((tls_model("initial-exec")));

#ifdef __cplusplus
}
#endif

/* One instruction a count. A sum that the compiler carries from branch to branch takes two, and one
 * that it keeps in memory up to three. */
#if defined __x86_64__ && defined __GNUC__
#define HEAPFIT_COUNT(counter) __asm__("addq $1, %0" : "+m"(counter) : : "cc")
#else
#define HEAPFIT_COUNT(counter) ((void)(counter)++)
#endif
#define HFIT_CHECKS_WORDS 1
#define HFIT_ON_LOAD(heap, offset) HEAPFIT_COUNT(heapfit_counts.loads)
#define HFIT_ON_STORE(heap, offset) HEAPFIT_COUNT(heapfit_counts.stores)
#define HFIT_ON_PAYLOAD(bytes) ((void)(heapfit_counts.payload += (bytes)))
#define HFIT_ON_MISUSE(heap, kind, pointer)                                                        \
    ((void)(heap), (void)(kind), (void)(pointer), (void)heapfit_counts.misuses++)

#endif
