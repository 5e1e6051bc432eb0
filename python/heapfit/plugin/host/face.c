/* SPDX-License-Identifier: Apache-2.0 */
/* See face.h. A request of 0 bytes is one of 1 byte for the plug-in. */
#include "face.h"

#include "heapfit_plugin.h"

#include <string.h>

#pragma weak plugin_alloc
#pragma weak plugin_alloc_aligned
#pragma weak plugin_resize
#pragma weak plugin_free
#pragma weak plugin_resize_sized
#pragma weak plugin_free_sized

static size_t served_size(size_t size) {
    return size > 0 ? size : 1;
}

bool is_sized(void) {
    return plugin_free_sized != NULL || plugin_resize_sized != NULL;
}

const char *missing_functions(void) {
    if (plugin_alloc == NULL && plugin_alloc_aligned == NULL) {
        return "plugin_alloc or plugin_alloc_aligned";
    }
    if (plugin_free == NULL && plugin_free_sized == NULL) {
        return "plugin_free or plugin_free_sized";
    }
    return NULL;
}

typedef void (*constructor)(void);

/* The section that the plug-in's were moved to (constructors.ld); both 0 on boards. */
extern const constructor first_constructor[] __attribute__((weak));
extern const constructor end_of_constructors[] __attribute__((weak));

void construct(void) {
    for (const constructor *each = first_constructor; each < end_of_constructors; each++) {
        (*each)();
    }
}

block face_alloc(const face *f, size_t alignment, size_t size, bool is_aligned) {
    const size_t wanted = alignment > f->alignment ? alignment : f->alignment;
    block made = {NULL, (uint32_t)size, (uint32_t)wanted};
    if (plugin_alloc_aligned != NULL && (is_aligned || plugin_alloc == NULL)) {
        made.address = plugin_alloc_aligned(f->heap, wanted, served_size(size));
    } else if (plugin_alloc != NULL && wanted == f->alignment) {
        made.address = plugin_alloc(f->heap, served_size(size));
    }
    return made;
}

/* As who has no resize does it: a second block, a copy, and the first given back. */
static void *replaced(const face *f, const block *old, size_t size) {
    const block made = face_alloc(f, old->alignment, size, old->alignment > f->alignment);
    if (made.address == NULL) {
        return NULL;
    }
    if (f->copies) {
        memcpy(made.address, old->address, size < old->size ? size : old->size);
    }
    face_free(f, old);
    return made.address;
}

void *face_resize(const face *f, const block *old, size_t size) {
    if (plugin_resize_sized != NULL) {
        return plugin_resize_sized(f->heap, old->address, served_size(old->size), old->alignment,
                                   served_size(size));
    }
    return plugin_resize != NULL ? plugin_resize(f->heap, old->address, served_size(size))
                                 : replaced(f, old, size);
}

void face_free(const face *f, const block *old) {
    if (plugin_free_sized != NULL) {
        plugin_free_sized(f->heap, old->address, served_size(old->size), old->alignment);
    } else {
        plugin_free(f->heap, old->address);
    }
}
