/* SPDX-License-Identifier: Apache-2.0 */
/* Where newlib takes its heap from; picolibc has a function of its own. */
#include <stddef.h>

enum { HEAP = 65536 };

void *_sbrk(ptrdiff_t more);

void *_sbrk(ptrdiff_t more) {
    static char heap[HEAP];
    static ptrdiff_t used;
    if (more > HEAP - used) {
        return (void *)-1;
    }
    used += more;
    return heap + used - more;
}
