/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dladdr is no choice here: it takes the loader's lock, and a thread that allocates while another
 * waits for it inside dlopen would hang. _dl_find_object takes none.
 */
#include "site.h"

#include <dlfcn.h>
#include <features.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "site_hash.h"

#if __GLIBC_PREREQ(2, 35)

/*
 * Hides the C library's function of this name, which it looks up, so that the library loads where
 * there is none (before 2.35); the unwinder that is linked in calls this one, too. Called within a
 * recorded call: what dlsym asks of the heap is passed on, unrecorded.
 */
__attribute__((visibility("hidden"))) int _dl_find_object(void *code,
                                                          struct dl_find_object *module) {
    static int (*_Atomic found)(void *, struct dl_find_object *);
    static atomic_bool is_looked_up;
    if (!atomic_load_explicit(&is_looked_up, memory_order_acquire)) {
        int (*function)(void *, struct dl_find_object *);
        void *symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
        memcpy(&function, &symbol, sizeof(function));
        atomic_store_explicit(&found, function, memory_order_relaxed);
        atomic_store_explicit(&is_looked_up, true, memory_order_release);
    }
    int (*find)(void *, struct dl_find_object *) =
        atomic_load_explicit(&found, memory_order_relaxed);
    return find == NULL ? -1 : find(code, module);
}

uint32_t caller_of(void *code) {
    struct dl_find_object module;
    if (_dl_find_object(code, &module) != 0) {
        return 0;
    }
    const uint64_t start = (uintptr_t)module.dlfo_map_start;
    const uint64_t extent = (uintptr_t)module.dlfo_map_end - start;
    return hfit_site_hash((uintptr_t)code - start, extent);
}

bool is_of_libstdcxx(void *code) {
    struct dl_find_object module;
    return _dl_find_object(code, &module) == 0 &&
           strstr(module.dlfo_link_map->l_name, "libstdc++.so") != NULL;
}

#else

uint32_t caller_of(void *code) {
    (void)code;
    return 0;
}

bool is_of_libstdcxx(void *code) {
    (void)code;
    return false;
}

#endif

/* A walk up the stack: the recorder's own frames first, then those of the program. */
struct walk {
    struct site site;
    uintptr_t code; /* where the program's innermost call returns to */
    unsigned count; /* callers taken */
};

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *frame, void *argument) {
    struct walk *walk = argument;
    const uintptr_t code = _Unwind_GetIP(frame);
    if (walk->count == 0 && code != walk->code) {
        return _URC_NO_REASON;
    }
    const uint32_t caller = caller_of((void *)code);
    if (caller == 0) {
        return _URC_END_OF_STACK;
    }
    walk->site.callers[walk->count++] = caller;
    return walk->count < SITE_DEPTH ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static bool asks_for_chains(void) {
    static _Atomic int answer; /* 0: not looked up yet */
    if (atomic_load_explicit(&answer, memory_order_relaxed) == 0) {
        const char *depth = getenv("HEAPFIT_SITE_DEPTH");
        const bool is_deep = depth != NULL && atoi(depth) == SITE_DEPTH;
        atomic_store_explicit(&answer, is_deep ? SITE_DEPTH : 1, memory_order_relaxed);
    }
    return answer == SITE_DEPTH;
}

static uint32_t name_of(const uint32_t callers[SITE_DEPTH]) {
    uint32_t name = 0;
    for (unsigned i = 0; i < SITE_DEPTH; i++) {
        name = hfit_mixed((uint64_t)name << 32 | callers[i]);
    }
    return name == 0 ? 1 : name;
}

struct site site_of(void *code) {
    struct walk walk = {.code = (uintptr_t)code};
    if (asks_for_chains()) {
        _Unwind_Backtrace(take_frame, &walk);
    }
    if (walk.count == 0) {
        walk.site.name = caller_of(code);
    } else {
        walk.site.name = name_of(walk.site.callers);
    }
    return walk.site;
}
