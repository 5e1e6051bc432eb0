/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The few lines a C test needs: CHECK a statement in a TEST, run all of a file, end with a count.
 */
#ifndef HFIT_TESTS_CHECK_H
#define HFIT_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

/* One of each in a program, however many of its sources include this. On Windows weak data lie
 * where others do. */
#ifdef _WIN32
#define ONE_IN_A_PROGRAM __attribute__((selectany))
#else
#define ONE_IN_A_PROGRAM __attribute__((weak))
#endif
ONE_IN_A_PROGRAM int check_passed = 0;
ONE_IN_A_PROGRAM const char *check_context = ""; /* under test; printed with a failure */

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

typedef struct named_test {
    const char *name;
    void (*run)(void);
} named_test;

enum { MOST_TESTS = 64 };

ONE_IN_A_PROGRAM named_test check_tests[MOST_TESTS] = {{0}};
ONE_IN_A_PROGRAM int check_test_count = 0;

/* TEST(what_holds) { ... } defines a test of a file that ends in RUN_TESTS(), which runs them in
 * their order. */
#define TEST(test)                                                                                 \
    static void test(void);                                                                        \
    __attribute__((constructor)) static void add_##test(void) {                                    \
        check_tests[check_test_count++] = (named_test){#test, test};                               \
    }                                                                                              \
    static void test(void)

#define RUN_TESTS()                                                                                \
    int main(void) {                                                                               \
        for (int i = 0; i < check_test_count; i++) {                                               \
            check_context = check_tests[i].name;                                                   \
            check_tests[i].run();                                                                  \
            check_passed++;                                                                        \
        }                                                                                          \
        return report_passed();                                                                    \
    }

static inline int report_passed(void) {
    printf("%d passed, 0 failed\n", check_passed);
    return 0;
}

#endif
