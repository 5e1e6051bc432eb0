/* SPDX-License-Identifier: Apache-2.0 */
/* Core as the contract suite builds it: misuse is remembered, false invariants end the program. */
#ifndef CONTRACT_CONFIG_H
#define CONTRACT_CONFIG_H

#include <stdint.h>

extern uint32_t misuse_count;
_Noreturn void invariant_broken(const char *statement);

#define HFIT_ON_MISUSE(heap, kind, pointer)                                                        \
    ((void)(heap), (void)(kind), (void)(pointer), (void)misuse_count++)
#define HFIT_ASSERT(statement) ((statement) ? (void)0 : invariant_broken(#statement))

#endif
