/* SPDX-License-Identifier: Apache-2.0 */
/* Three generated heaps after some calls, told of by their own walks; then `stopped` is reached. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/semihost.h"
#include "one_heap.h"
#include "three_heap.h"
#include "two_heap.h"

void stopped(void);

__attribute__((noinline)) void stopped(void) {
    __asm__ volatile("" ::: "memory");
}

static void print_number(uint32_t value, const char *after) {
    char text[11] = {0};
    int at = 10;
    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    semihost_print(text + at);
    semihost_print(after);
}

static void tell(void *context, const void *block, size_t size, bool is_used) {
    (void)context;
    print_number((uint32_t)(uintptr_t)block, " ");
    print_number((uint32_t)size, is_used ? " used\n" : " free\n");
}

#define USE(heap)                                                                                  \
    do {                                                                                           \
        void *kept[40];                                                                            \
        (void)heap##_heap_init();                                                                  \
        for (unsigned i = 0; i < 40; i++) {                                                        \
            kept[i] = heap##_malloc(8 + i * 37 % 200);                                             \
        }                                                                                          \
        for (unsigned i = 0; i < 40; i += 3) {                                                     \
            heap##_free(kept[i]);                                                                  \
        }                                                                                          \
        semihost_print(#heap "\n");                                                                \
        heap##_heap_walk(tell, NULL);                                                              \
    } while (0)

int main(void) {
    stopped(); /* once before there is a heap */
    USE(one);
    USE(two);
    USE(three);
    stopped();
    return 0;
}
