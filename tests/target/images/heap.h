/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of board.c: one of the sources beside it, a C library's, or a generated one. */
#ifndef IMAGES_HEAP_H
#define IMAGES_HEAP_H

#include <stddef.h>

#ifdef HEAP_HEADER
#include HEAP_HEADER
#define heap_start() ((void)app_heap_init())
#define heap_take app_malloc
#define heap_give app_free
#elif defined(HEAP_IS_LIBC)
#include <stdlib.h>
#define heap_start() ((void)0)
#define heap_take malloc
#define heap_give free
#else
void heap_start(void);
void *heap_take(size_t size);
void heap_give(void *block);
#endif

#endif
