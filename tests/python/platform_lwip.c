/* SPDX-License-Identifier: Apache-2.0 */
/* Asks as lwIP's mem.c does where the heap is another's, by the names of 2.1 and of 2.2. */
#ifdef HFIT_LWIP_2_1
#include "lwip/mem.h"
#define MEM_CUSTOM_MALLOC mem_clib_malloc
#define MEM_CUSTOM_CALLOC mem_clib_calloc
#define MEM_CUSTOM_FREE mem_clib_free
_Static_assert(MEM_LIBC_MALLOC == 1, "lwIP takes its settings");
_Static_assert(sizeof(mem_size_t) == sizeof(size_t), "lwIP's own heap is off");
#else
#include "lwipopts.h"
_Static_assert(MEM_CUSTOM_ALLOCATOR == 1, "lwIP takes its settings");
#endif

#include "app_heap.h"
#include "lwip/sys.h"

static sys_prot_t depth, locks;

sys_prot_t sys_arch_protect(void) {
    locks++;
    return depth++;
}

void sys_arch_unprotect(sys_prot_t level) {
    depth = level;
}

int main(void) {
    if (!app_heap_init()) {
        return 1;
    }
    unsigned char *block = MEM_CUSTOM_CALLOC(3, 40);
    void *other = MEM_CUSTOM_MALLOC(100);
    const int is_served = block != NULL && other != NULL && block[119] == 0;
    const int is_ours = app_usable_size(block) >= 120 && app_usable_size(other) >= 100;
    MEM_CUSTOM_FREE(block);
    MEM_CUSTOM_FREE(other);
    app_heap_free_blocks found;
    app_heap_find_free(&found);
    return is_served && is_ours && found.count == 1 && locks > 4 && depth == 0 ? 0 : 2;
}
