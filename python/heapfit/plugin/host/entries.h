/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table by which a plug-in is called. It is linked with the plug-in (entries.c), so that
 * no name of a plug-in's is bound to a name of who calls it.
 */
#ifndef HOST_ENTRIES_H
#define HOST_ENTRIES_H

#include <stddef.h>

typedef void (*constructor)(void);

/* The functions of heapfit_plugin.h; NULL: left out. */
typedef struct entries {
    void *(*init)(void *region, size_t size, size_t alignment);
    void *(*alloc)(void *heap, size_t size);
    void *(*alloc_aligned)(void *heap, size_t alignment, size_t size);
    void *(*resize)(void *heap, void *block, size_t size);
    void (*free)(void *heap, void *block);
    void *(*resize_sized)(void *heap, void *block, size_t old_size, size_t alignment, size_t size);
    void (*free_sized)(void *heap, void *block, size_t size, size_t alignment);
    const constructor *first_constructor; /* in their order; both NULL on boards */
    const constructor *end_of_constructors;
} entries;

extern const entries plugin_entries;

#endif
