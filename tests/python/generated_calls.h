/* SPDX-License-Identifier: Apache-2.0 */
/* The lock of the generated code under test, which is counted. */
#ifndef GENERATED_CALLS_H
#define GENERATED_CALLS_H

void lock_taken(void);
void lock_given(void);

#define APP_HEAP_LOCK()                                                                            \
    const int saved = 7;                                                                           \
    lock_taken()
#define APP_HEAP_UNLOCK() ((void)saved, lock_given())
#endif
