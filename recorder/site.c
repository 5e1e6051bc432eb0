/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dladdr is no choice here: it takes the loader's lock, and a thread that allocates while another
 * waits for it inside dlopen would hang. _dl_find_object takes none.
 */
#include "site.h"

#include <dlfcn.h>
#include <features.h>

#if __GLIBC_PREREQ(2, 35)

/* The finaliser of MurmurHash3 (Appleby, public domain): every bit of the input reaches all 32. */
static uint32_t mixed(uint64_t value) {
    value ^= value >> 33;
    value *= 0xff51afd7ed558ccdU;
    value ^= value >> 33;
    value *= 0xc4ceb9fe1a85ec53U;
    return (uint32_t)(value ^ (value >> 33));
}

uint32_t site_of(void *code) {
    struct dl_find_object module;
    if (_dl_find_object(code, &module) != 0) {
        return 0;
    }
    const uint64_t start = (uintptr_t)module.dlfo_map_start;
    const uint64_t extent = (uintptr_t)module.dlfo_map_end - start;
    const uint32_t hash = mixed(((uintptr_t)code - start) ^ (extent << 32));
    return hash == 0 ? 1 : hash;
}

#else

uint32_t site_of(void *code) {
    (void)code;
    return 0;
}

#endif
