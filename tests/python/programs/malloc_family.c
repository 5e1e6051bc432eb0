/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls each function of the malloc family once or twice, in the order test_record.py expects, and
 * asks for memory nowhere else. Ends with the line number of the first thing that is not so, or 0.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(statement)                                                                           \
    do {                                                                                           \
        if (!(statement)) {                                                                        \
            _exit(__LINE__);                                                                       \
        }                                                                                          \
    } while (0)

static volatile size_t huge = SIZE_MAX; /* volatile: the compiler must not know the outcome */

static int is_multiple(void *block, size_t alignment) {
    return block != NULL && (uintptr_t)block % alignment == 0;
}

static void plain(void) {
    free(malloc(10));
    unsigned char *zeros = calloc(3, 7);
    for (int i = 0; i < 21; i++) {
        CHECK(zeros[i] == 0);
    }
    zeros = realloc(zeros, 100);
    zeros = reallocarray(zeros, 5, 8);
    CHECK(malloc_usable_size(zeros) >= 40);
    free(zeros);
    void *block = realloc(NULL, 5);
    CHECK(realloc(block, 0) == NULL);
    free(malloc(0));
    free(NULL);
}

static void aligned(void) {
    void *block = memalign(64, 100);
    CHECK(is_multiple(block, 64));
    free(block);
    block = aligned_alloc(32, 64);
    CHECK(is_multiple(block, 32));
    free(block);
    CHECK(posix_memalign(&block, 128, 200) == 0 && is_multiple(block, 128));
    free(block);
    block = valloc(300);
    CHECK(is_multiple(block, (size_t)getpagesize()));
    free(block);
    block = pvalloc(300);
    CHECK(malloc_usable_size(block) >= (size_t)getpagesize());
    free(block);
}

static void refused(void) {
    for (size_t i = 0; i < 40; i++) {
        errno = 0;
        CHECK(malloc(huge - i) == NULL && errno == ENOMEM);
        CHECK(memalign(4096, huge - i) == NULL);
        CHECK(aligned_alloc(4096, huge - i) == NULL);
    }
    CHECK(calloc(huge, 2) == NULL);
    char *block = malloc(6);
    strcpy(block, "still");
    errno = 0;
    CHECK(realloc(block, huge) == NULL && errno == ENOMEM);
    CHECK(reallocarray(block, huge, 2) == NULL);
    void *untouched = block;
    CHECK(posix_memalign(&untouched, 3, 8) == EINVAL && untouched == block);
    CHECK(strcmp(block, "still") == 0);
    free(block);
}

int main(void) {
    CHECK(open("/dev/null", O_RDONLY) == 3); /* the lowest, as without a recorder */
    errno = 77;
    plain();
    CHECK(errno == 77);
    aligned();
    refused();
    static const char told[] = "all as it should be\n";
    CHECK(write(STDOUT_FILENO, told, sizeof(told) - 1) == sizeof(told) - 1);
    return 0;
}
