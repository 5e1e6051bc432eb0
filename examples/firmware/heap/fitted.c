/* SPDX-License-Identifier: Apache-2.0 */
#include "fitted_heap.h"
#include "heap.h"

void *firmware_malloc(size_t size) {
    static bool is_made;
    is_made = is_made || fitted_heap_init();
    return fitted_malloc(size);
}

void firmware_free(void *block) {
    fitted_free(block);
}
