/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLSF as ESP-IDF has it, espressif/tlsf (branch idf at ba64d19), and as that comes from,
 * mattconte/tlsf (deff9ab), and as LVGL has that (lv_tlsf.c at 7cc13aa).
 *
 * There are 2^s lists a power of two. Classes are of the payload; below 2^(s + 2) bytes there is
 * one a word. With `second_level` that is s, for all powers of two to 2^31, in any region; with
 * `by_region`, too, for those up to the region's, rounded up. Without them the control block grows
 * with the region: s = 3 up to 16 KiB, 4 up to 256 KiB, else 5, for all powers of two up to the
 * region's; and a request is rounded up to the next class, whose block keeps what that adds, but
 * for a resize in place and an aligned block. An aligned block is cut from one with room for the
 * alignment and a chunk, rounded up to it.
 */
#ifndef BASELINES_ESP_TLSF_H
#define BASELINES_ESP_TLSF_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_esp_tlsf_plan {
    hfit_plan common;
    uint32_t second_level; /* SL_INDEX_COUNT_LOG2 of mattconte/tlsf, up to 5; 0: as in ESP-IDF */
    uint32_t by_region;    /* 1: FL_INDEX_MAX is the region's, as in LVGL; 0: 30 */
} hfit_esp_tlsf_plan;

HFIT_DECLARE_ALLOCATOR(esp_tlsf);

#ifdef __cplusplus
}
#endif

#endif
