/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows that core's invariants can fail: core's configuration, and the main of a test that includes
 * an allocator's source and breaks one invariant after the other.
 *
 * Each case must end in a false HFIT_ASSERT; the place of which is printed as "file:line".
 * tests/repository/test_asserts.py compares these places with all that there are.
 */
#ifndef ASSERTING_H
#define ASSERTING_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static jmp_buf end_of_case;

static inline void assert_failed(const char *file, int line) {
    const char *path = strstr(file, "core/src/");
    printf("%s:%d\n", path == NULL ? file : path, line);
    longjmp(end_of_case, 1);
}

#define HFIT_ASSERT(statement) ((statement) ? (void)0 : assert_failed(__FILE__, __LINE__))

static int silent; /* cases in which nothing was told */

/* A case: what is broken, and statements that break it, with declarations of their own. */
#define BREAKS(what, ...)                                                                          \
    do {                                                                                           \
        if (setjmp(end_of_case) == 0) {                                                            \
            __VA_ARGS__;                                                                           \
            fprintf(stderr, "%s: breaks no invariant\n", what);                                    \
            silent++;                                                                              \
        }                                                                                          \
    } while (0)

#endif
