/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Next fit over one ring of all chunks, joined while it is searched: the rule of ThreadX's byte
 * pool (eclipse-threadx 7ad78c40, common/src/tx_byte_pool_search.c and tx_byte_release.c).
 *
 * A search starts where the last one ended, or at a lower chunk freed since, and passes over used
 * chunks, too. A free chunk that is too small takes the one behind it if that is free, and only
 * then: freed chunks stay apart until a search comes by. The first that is large enough serves; 20
 * bytes or more beyond the request are split off. A search ends after as many steps as there are
 * chunks and one. One that fails has joined what it came by, too.
 *
 * What lies in TX_BYTE_POOL there lies in the region here. A resize stays where it fits, and else
 * is a request, a copy and a free: ThreadX has none.
 */
#ifndef BASELINES_BYTE_POOL_H
#define BASELINES_BYTE_POOL_H

#include "hfit/contract.h"

#ifdef __cplusplus
extern "C" {
#endif

HFIT_DECLARE_ALLOCATOR(byte_pool);

#ifdef __cplusplus
}
#endif

#endif
