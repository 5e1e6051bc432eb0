/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Best fit over equal blocks that are numbered with 15 bits: the rule of umm_malloc
 * (rhempel/umm_malloc ed68d0b5, src/umm_malloc.c).
 *
 * A request of r bytes gets r + 4 bytes in whole blocks of `block_size`: one run of them. The
 * smallest free run that will do serves from its start, the first on the list among equals; what is
 * left keeps its place on the list. A freed run takes in the free one behind it; then it joins the
 * one before, in that one's place, or becomes the first on the list. A resize takes what it needs
 * from the run behind, or else before, or both, as there.
 *
 * A heap has 32,768 blocks at most, 256 KiB of 8 bytes; what a region has beyond is not used. The
 * original takes any multiple of 4 bytes for a block, here it is 8 or 16.
 */
#ifndef BASELINES_BLOCK_RUNS_H
#define BASELINES_BLOCK_RUNS_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hfit_block_runs_plan {
    hfit_plan common;
    uint32_t block_size; /* UMM_BLOCK_BODY_SIZE, in bytes: 8 or 16; no less than the alignment */
    uint32_t first;      /* 1: UMM_FIRST_FIT; 0: best fit */
} hfit_block_runs_plan;

HFIT_DECLARE_ALLOCATOR(block_runs);

#ifdef __cplusplus
}
#endif

#endif
