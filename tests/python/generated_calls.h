/* SPDX-License-Identifier: Apache-2.0 */
/* The HFIT_CONFIG_FILE of the generated code under test: counts what it locks and what it refuses. */
#ifndef GENERATED_CALLS_H
#define GENERATED_CALLS_H

void lock_taken(void);
void lock_given(void);
void misuse_told(void);

#define APP_HEAP_LOCK()                                                                            \
    const int saved = 7;                                                                           \
    lock_taken()
#define APP_HEAP_UNLOCK() ((void)saved, lock_given())
#define HFIT_ON_MISUSE(heap, kind, pointer)                                                        \
    ((void)(heap), (void)(kind), (void)(pointer), misuse_told())

#endif
