/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLSF as ESP-IDF has it: the rule of espressif/tlsf (branch idf at ba64d19).
 *
 * The control block grows with the region: 2^s lists a power of two, s = 3 up to 16 KiB, 4 up to
 * 256 KiB, else 5, for all powers of two up to the region's. Classes are of the payload; below
 * 2^(s + 2) bytes there is one a word. A request is rounded up to the next class, and its block
 * keeps what that adds, unlike in TLSF as published; a resize in place and an aligned block do not.
 * An aligned block is cut from one with room for the alignment and a chunk, rounded up to it.
 */
#ifndef BASELINES_ESP_TLSF_H
#define BASELINES_ESP_TLSF_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(esp_tlsf);

#ifdef __cplusplus
}
#endif

#endif
