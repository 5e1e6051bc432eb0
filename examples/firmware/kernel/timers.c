/* SPDX-License-Identifier: Apache-2.0 */
#include "timers.h"

#include <stddef.h>

void timers_add(timer **first, timer *added) {
    while (*first && (int32_t)(added->due - (*first)->due) >= 0) {
        first = &(*first)->next;
    }
    added->next = *first;
    *first = added;
}

timer *timers_take(timer **first, uint32_t now) {
    timer *const taken = *first;
    if (!timers_are_due(taken, now)) {
        return NULL;
    }
    *first = taken->next;
    return taken;
}
