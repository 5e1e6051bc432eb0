/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap of a C library for boards as a plug-in. It grows by sbrk, here over our region:
 *
 *   region | taken by sbrk, given back by a negative one | left                |
 *            <- - - - - - most that was taken: R - - - - ->
 *
 * Built with LIBRARY_IS_NEWLIB or without, for picolibc; linked with the library's archive behind
 * it, of which the linker takes what is missing here. Variables of ours begin with library_.
 */
#include "heapfit_plugin.h"

#include <stdint.h>

static unsigned char *library_start, *library_break, *library_end, *library_most;

static void *moved_break(ptrdiff_t bytes) {
    unsigned char *before = library_break;
    if (bytes > library_end - before || bytes < library_start - before) {
        return (void *)UINTPTR_MAX;
    }
    library_break += bytes;
    library_most = library_break > library_most ? library_break : library_most;
    return before;
}

#if defined(LIBRARY_IS_NEWLIB)

/* Of the library's struct _reent its heap uses the first word alone, which is errno. */
static int library_errno;

void *_sbrk_r(void *reent, ptrdiff_t bytes);
void __malloc_lock(void *reent);
void __malloc_unlock(void *reent);
void *_malloc_r(void *reent, size_t size);
void *_memalign_r(void *reent, size_t alignment, size_t size);
void *_realloc_r(void *reent, void *block, size_t size);
void _free_r(void *reent, void *block);

void *_sbrk_r(void *reent, ptrdiff_t bytes) {
    (void)reent;
    return moved_break(bytes);
}

void __malloc_lock(void *reent) {
    (void)reent;
}

void __malloc_unlock(void *reent) {
    (void)reent;
}

#define MALLOC(size) _malloc_r(&library_errno, size)
#define MEMALIGN(alignment, size) _memalign_r(&library_errno, alignment, size)
#define REALLOC(block, size) _realloc_r(&library_errno, block, size)
#define FREE(block) _free_r(&library_errno, block)

#else

/* Its errno lies behind the thread pointer, eight bytes on; nothing else of a thread is used. */
unsigned char library_thread[64];

void *sbrk(ptrdiff_t bytes);
void __aeabi_read_tp(void);
void *malloc(size_t size);
void *memalign(size_t alignment, size_t size);
void *realloc(void *block, size_t size);
void free(void *block);

void *sbrk(ptrdiff_t bytes) {
    return moved_break(bytes);
}

/* No register but r0 may change, so that it cannot be plain C. */
__attribute__((naked)) void __aeabi_read_tp(void) {
    __asm__("ldr r0, =library_thread\n\tbx lr\n\t.ltorg");
}

#define MALLOC(size) malloc(size)
#define MEMALIGN(alignment, size) memalign(alignment, size)
#define REALLOC(block, size) realloc(block, size)
#define FREE(block) free(block)

#endif

void *plugin_init(void *region, size_t size, size_t alignment) {
    (void)alignment; /* these libraries align to 8, whoever asks */
    library_start = library_break = library_most = region;
    library_end = library_start + size;
    return region;
}

void *plugin_alloc(void *heap, size_t size) {
    (void)heap;
    return MALLOC(size);
}

void *plugin_alloc_aligned(void *heap, size_t alignment, size_t size) {
    (void)heap;
    return MEMALIGN(alignment, size);
}

void *plugin_resize(void *heap, void *block, size_t size) {
    (void)heap;
    return REALLOC(block, size);
}

void plugin_free(void *heap, void *block) {
    (void)heap;
    FREE(block);
}

size_t plugin_taken(void *heap);

size_t plugin_taken(void *heap) {
    (void)heap;
    return (size_t)(library_most - library_start);
}
