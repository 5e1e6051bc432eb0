/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sound heap, first fit included from faulty.c, whose constructor attacks who measures it:
 * HOSTILE is the statement that it is.
 */
#define FAULT NONE
#include "faulty.c"

#include <signal.h>

__attribute__((constructor)) static void attack(void) {
    HOSTILE;
}
