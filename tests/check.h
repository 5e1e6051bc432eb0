/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few lines a C or C++ test needs: CHECK a statement, RUN a test, end with a count.
 */
#ifndef HFIT_TESTS_CHECK_H
#define HFIT_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* One of each in a program, however many of its sources include this. */
__attribute__((weak)) int check_passed;
__attribute__((weak)) const char *check_context = ""; /* under test; printed with a failure */

/* Ends the program with the place and the statement that does not hold. */
#define CHECK(statement)                                                                           \
    do {                                                                                           \
        if (!(statement)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: not true: %s\n", __FILE__, __LINE__, check_context,        \
                    #statement);                                                                   \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define RUN(test)                                                                                  \
    do {                                                                                           \
        check_context = #test;                                                                     \
        test();                                                                                    \
        check_passed++;                                                                            \
    } while (0)

static inline int report_passed(void) {
    printf("%d passed, 0 failed\n", check_passed);
    return 0;
}

#endif
