/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heap that would serve the program without the recorder: the next definition of each function
 * in the loader's order (the C library's, or that of another allocator). Each next_ function
 * behaves as the one it is named after.
 *
 * Finding them (dlsym) may itself ask for memory. Such requests get blocks of a small static area,
 * which are never freed; the next_ functions know them.
 */
#ifndef HFIT_NEXT_HEAP_H
#define HFIT_NEXT_HEAP_H

#include <stdbool.h>
#include <stddef.h>

void *next_malloc(size_t size);
void *next_calloc(size_t count, size_t size);
void *next_realloc(void *block, size_t size);
void next_free(void *block);
void *next_memalign(size_t alignment, size_t size);
void *next_aligned_alloc(size_t alignment, size_t size);
int next_posix_memalign(void **block, size_t alignment, size_t size);
void *next_valloc(size_t size);
void *next_pvalloc(size_t size);
size_t next_malloc_usable_size(void *block);

/* Whether a block is of the static area, so that no record tells of it. */
bool is_early_block(const void *block);

#endif
