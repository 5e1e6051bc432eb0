/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lwIP's core/init.c asks of settings before it builds, said again: Debian's package has the
 * headers alone. Only what sizes decide; the limits of 2.1.3.
 */
#include "lwip/opt.h"
#include "lwip/pbuf.h"

#define HEADERS (PBUF_LINK_ENCAPSULATION_HLEN + PBUF_LINK_HLEN + PBUF_IP_HLEN + PBUF_TRANSPORT_HLEN)

#if MEMP_MEM_MALLOC && MEM_USE_POOLS
#error "pools in the heap, and the heap in pools"
#endif
#if MEM_LIBC_MALLOC && MEM_USE_POOLS
#error "the heap is the C library's and in pools"
#endif
#if MEM_USE_POOLS && !MEMP_USE_CUSTOM_POOLS
#error "the heap is in pools, of which there are none"
#endif
#if !MEMP_MEM_MALLOC && PBUF_POOL_BUFSIZE <= HEADERS
#error "PBUF_POOL_BUFSIZE has no room behind the headers"
#endif
#if LWIP_TCP && !MEMP_MEM_MALLOC && TCP_WND > PBUF_POOL_SIZE * (PBUF_POOL_BUFSIZE - HEADERS)
#error "TCP_WND is more than the buffers carry"
#endif
#if LWIP_TCP && TCP_WND < TCP_MSS
#error "TCP_WND is less than a segment"
#endif
#if LWIP_TCP && TCP_WND > 0xffff
#error "TCP_WND takes more than 16 bits"
#endif
#if PBUF_POOL_BUFSIZE <= MEM_ALIGNMENT
#error "PBUF_POOL_BUFSIZE is no more than the alignment"
#endif
