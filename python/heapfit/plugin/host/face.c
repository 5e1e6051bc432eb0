/* SPDX-License-Identifier: Apache-2.0 */
/* See face.h. A request of 0 bytes is one of 1 byte for the plug-in. */
#include "face.h"

#include <string.h>

static const entries *plugin;

void use_entries(const entries *table) {
    plugin = table;
}

static size_t served_size(size_t size) {
    return size > 0 ? size : 1;
}

bool is_sized(void) {
    return plugin->free_sized != NULL || plugin->resize_sized != NULL;
}

const char *missing_functions(void) {
    if (plugin->alloc == NULL && plugin->alloc_aligned == NULL) {
        return "plugin_alloc or plugin_alloc_aligned";
    }
    if (plugin->free == NULL && plugin->free_sized == NULL) {
        return "plugin_free or plugin_free_sized";
    }
    return NULL;
}

void construct(void) {
    for (const constructor *each = plugin->first_constructor; each < plugin->end_of_constructors;
         each++) {
        (*each)();
    }
}

void *face_init(void *region, size_t size, size_t alignment) {
    return plugin->init(region, size, alignment);
}

block face_alloc(const face *f, size_t alignment, size_t size, bool is_aligned) {
    const size_t wanted = alignment > f->alignment ? alignment : f->alignment;
    block made = {NULL, (uint32_t)size, (uint32_t)wanted};
    if (plugin->alloc_aligned != NULL && (is_aligned || plugin->alloc == NULL)) {
        made.address = plugin->alloc_aligned(f->heap, wanted, served_size(size));
    } else if (plugin->alloc != NULL && wanted == f->alignment) {
        made.address = plugin->alloc(f->heap, served_size(size));
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
    if (plugin->resize_sized != NULL) {
        return plugin->resize_sized(f->heap, old->address, served_size(old->size), old->alignment,
                                    served_size(size));
    }
    return plugin->resize != NULL ? plugin->resize(f->heap, old->address, served_size(size))
                                  : replaced(f, old, size);
}

void face_free(const face *f, const block *old) {
    if (plugin->free_sized != NULL) {
        plugin->free_sized(f->heap, old->address, served_size(old->size), old->alignment);
    } else {
        plugin->free(f->heap, old->address);
    }
}
