/* SPDX-License-Identifier: Apache-2.0 */
/* What core calls: around every operation, and when the caller, or core itself, is wrong. */
#include "contract_config.h"

#include <stdio.h>
#include <stdlib.h>

uint32_t misuse_count;
int misuse_kind;
uint32_t lock_count;
bool may_invariants_break;

uint64_t loads_left = UINT64_MAX;

static void (*when_spent)(void);
static bool is_locked;

void limit_loads(uint64_t loads, void (*on_hang)(void)) {
    loads_left = loads;
    when_spent = on_hang;
}

void report_hang(void) {
    when_spent();
}

void take_lock(void) {
    if (is_locked) {
        invariant_broken("the lock is not held when an operation begins");
    }
    is_locked = true;
    lock_count++;
}

void release_lock(void) {
    if (!is_locked) {
        invariant_broken("the lock is held when an operation ends");
    }
    is_locked = false;
}

void invariant_broken(const char *statement) {
    fprintf(stderr, "invariant of core does not hold: %s\n", statement);
    abort();
}
