/* SPDX-License-Identifier: Apache-2.0 */
/* Asks ESP-IDF's heaps for memory, by every function that tells who asks, and prints the frames of
 * the recorder. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapters/one_heap.h"
#include "esp_idf_heap.h"

static unsigned held; /* times the recorder's lock is taken */

void test_enter_critical(portMUX_TYPE *mux) {
    (void)mux;
    held++;
}

void test_exit_critical(portMUX_TYPE *mux) {
    (void)mux;
    held--;
}

static bool print(void *context, const void *bytes, size_t size) {
    (void)context;
    return fwrite(bytes, 1, size, stdout) == size;
}

static void by_the_library(void) {
    void *block = malloc(100);
    block = realloc(block, 200);
    free(block);
    free(calloc(3, 10));
    free(memalign(64, 40));
    free(aligned_alloc(64, 128));
}

static void by_capabilities(void) {
    void *block = heap_caps_malloc(100, MALLOC_CAP_DMA);
    block = heap_caps_realloc(block, 200, MALLOC_CAP_DMA);
    heap_caps_free(block);
    heap_caps_free(heap_caps_calloc(3, 10, MALLOC_CAP_DMA));
    heap_caps_free(heap_caps_aligned_alloc(64, 40, MALLOC_CAP_DMA));
}

/* Asked in vain: its place must not be the next request's, which tells none. */
static void by_neither(void) {
    (void)heap_caps_malloc(0, MALLOC_CAP_DMA);
    heap_caps_free(heap_caps_malloc_prefer(50, 1, MALLOC_CAP_DMA));
}

int main(void) {
    by_the_library();
    by_capabilities();
    by_neither();
    hfit_record_close_frame(&hfit_one_heap);
    return hfit_record_drain(&hfit_one_heap, print, NULL) && held == 0 ? 0 : 1;
}
