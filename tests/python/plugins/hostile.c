/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sound heap, first fit included from faulty.c, whose constructor attacks who measures it:
 * HOSTILE is the statement that it is.
 */
#define FAULT NONE
#include "faulty.c"

#include <signal.h>
#include <sys/types.h>

extern volatile uint32_t *told; /* the host's answer, host/answer.h */

static char flood[1 << 16];

__attribute__((constructor)) static void attack(void) {
    flood[0] = 'x';
    HOSTILE;
}
