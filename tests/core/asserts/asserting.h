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

typedef void broken_invariant(void);

/* The number of cases in which nothing was told, each of them by its place in the list. */
static inline int show_all(broken_invariant *const *cases, size_t count) {
    volatile int silent = 0;
    for (volatile size_t i = 0; i < count; i++) {
        if (setjmp(end_of_case) == 0) {
            cases[i]();
            fprintf(stderr, "case %zu breaks no invariant\n", (size_t)i);
            silent++;
        }
    }
    return silent;
}

#define SHOW_ALL(cases) show_all((cases), sizeof(cases) / sizeof(cases)[0])

#endif
