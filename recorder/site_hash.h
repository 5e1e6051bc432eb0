/* SPDX-License-Identifier: Apache-2.0 */
/* How a call site is named, in recordings and by whoever reads the like from other tools' files. */
#ifndef HFIT_SITE_HASH_H
#define HFIT_SITE_HASH_H

#include <stdint.h>

/* The finaliser of MurmurHash3 (Appleby, public domain): every bit of the input reaches all 32. */
static inline uint32_t hfit_mixed(uint64_t value) {
    value ^= value >> 33;
    value *= 0xff51afd7ed558ccdU;
    value ^= value >> 33;
    value *= 0xc4ceb9fe1a85ec53U;
    return (uint32_t)(value ^ (value >> 33));
}

/* The name of code `offset` bytes behind the start of a module whose mapping is `extent` bytes long
 * from the first page to the last segment's end. Never 0, which says that the site is unknown. */
static inline uint32_t hfit_site_hash(uint64_t offset, uint64_t extent) {
    const uint32_t hash = hfit_mixed(offset ^ (extent << 32));
    return hash == 0 ? 1 : hash;
}

#endif
