/* SPDX-License-Identifier: Apache-2.0 */
/* See entries.h. Linked with the plug-in, into its image or into a board's program. */
#include "host/entries.h"

#include "heapfit_plugin.h"

#pragma weak plugin_alloc
#pragma weak plugin_alloc_aligned
#pragma weak plugin_resize
#pragma weak plugin_free
#pragma weak plugin_resize_sized
#pragma weak plugin_free_sized

/* The section that the plug-in's constructors were moved to (constructors.ld); none on boards. */
extern const constructor first_constructor[] __attribute__((weak));
extern const constructor end_of_constructors[] __attribute__((weak));

const entries plugin_entries = {
    plugin_init,         plugin_alloc,      plugin_alloc_aligned, plugin_resize,       plugin_free,
    plugin_resize_sized, plugin_free_sized, first_constructor,    end_of_constructors,
};
