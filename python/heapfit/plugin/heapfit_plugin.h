/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What heapfit asks of an allocator that it did not write: an adapter, these functions in C or in
 * any language that can be called like it. docs/plugins.md is the guide.
 *
 *   needed        plugin_init
 *   one of them   plugin_alloc or plugin_alloc_aligned
 *   one of them   plugin_free or plugin_free_sized
 *   may be had    plugin_resize or plugin_resize_sized; else a resize is a second block and a copy
 *
 * heapfit never asks for 0 bytes, never gives back what it was not handed out, and calls nothing
 * from two threads. A function that cannot serve returns NULL and leaves every block as it was.
 */
#ifndef HEAPFIT_PLUGIN_H
#define HEAPFIT_PLUGIN_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A fresh heap in `size` bytes at `region`, all zero, whose first byte lies at a multiple of the
 * power of two not below `size`. `alignment` is what every block is to have: 4, 8 or 16. What is
 * returned comes back as `heap` in every call; NULL if the region is too small. */
void *plugin_init(void *region, size_t size, size_t alignment);

/* A block of `size` bytes at init's alignment. Where there is no such function every request goes
 * to plugin_alloc_aligned. */
void *plugin_alloc(void *heap, size_t size);

/* A block at a multiple of `alignment`, a power of two not below init's. Where there is no such
 * function, what asks for more than init's alignment is refused. */
void *plugin_alloc_aligned(void *heap, size_t alignment, size_t size);

/* The block with `size` bytes, here or elsewhere, and the content that both have room for. NULL:
 * the old block stays as it is. */
void *plugin_resize(void *heap, void *block, size_t size);

void plugin_free(void *heap, void *block);

/* The same of an allocator that is told what its caller asked for. Where there is one of these, the
 * plug-in's interface is called sized. */
void *plugin_resize_sized(void *heap, void *block, size_t old_size, size_t alignment, size_t size);
void plugin_free_sized(void *heap, void *block, size_t size, size_t alignment);

#ifdef __cplusplus
}
#endif

#endif
