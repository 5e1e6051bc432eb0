/* SPDX-License-Identifier: Apache-2.0 */
/* Core as the contract suite builds it: misuse is remembered, loads of metadata are counted, a lock
 * taken twice and false invariants end the program. */
#ifndef CONTRACT_CONFIG_H
#define CONTRACT_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

extern uint32_t misuse_count;
extern int misuse_kind;     /* the last, an hfit_misuse */
extern uint32_t lock_count; /* how often the lock was taken */
void take_lock(void);
void release_lock(void);
extern bool may_invariants_break; /* false unless a test attacks a heap that checks nothing */
_Noreturn void invariant_broken(const char *statement);

/* A loop of core that does not end loads metadata without end. So a hang is counted in loads, which
 * are the same on a busy machine: the first load beyond `loads` calls `on_hang`. */
void limit_loads(uint64_t loads, void (*on_hang)(void));
extern uint64_t loads_left;
void report_hang(void);
#define COUNT_LOAD() (loads_left-- == 0 ? report_hang() : (void)0)

#ifndef HFIT_CHECKS_WORDS
#define HFIT_CHECKS_WORDS 1
#endif
#define HFIT_ON_MISUSE(heap, kind, pointer)                                                        \
    ((void)(heap), misuse_kind = (int)(kind), (void)(pointer), (void)misuse_count++)
#ifndef HFIT_ON_LOAD
#define HFIT_ON_LOAD(heap, offset) ((void)(heap), (void)(offset), COUNT_LOAD())
#endif
#define HFIT_LOCK(heap) ((void)(heap), take_lock())
#define HFIT_UNLOCK(heap) ((void)(heap), release_lock())
#define HFIT_ASSERT(statement)                                                                     \
    ((statement) || may_invariants_break ? (void)0 : invariant_broken(#statement))

#endif
