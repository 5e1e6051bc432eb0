/* SPDX-License-Identifier: Apache-2.0 */
/* What the stacks themselves check of their settings, in our words: a file of settings before it.
 * CHECKED is defined once the settings of a stack were there.
 */
#include <stdint.h>

#ifdef MYNEWT_VAL_MSYS_1_BLOCK_SIZE /* NimBLE: os_mempool.h's counts, os_mbuf_get_pkthdr's room */
_Static_assert(MYNEWT_VAL_MSYS_1_BLOCK_COUNT > 0 && MYNEWT_VAL_MSYS_1_BLOCK_COUNT <= 65535, "");
_Static_assert(MYNEWT_VAL_MSYS_1_BLOCK_SIZE > 16 + 8 && MYNEWT_VAL_MSYS_1_BLOCK_SIZE <= 65535, "");
#define CHECKED 1
#endif
#ifdef CONFIG_BT_BUF_ACL_RX_SIZE /* Zephyr: Kconfig's ranges with BT_SMP, buf.h's assertion */
_Static_assert(CONFIG_BT_BUF_ACL_RX_SIZE >= 69 && CONFIG_BT_BUF_ACL_RX_SIZE <= 65535, "");
_Static_assert(CONFIG_BT_BUF_ACL_RX_COUNT_EXTRA >= 1, "");
_Static_assert(1 + CONFIG_BT_BUF_ACL_RX_COUNT_EXTRA <= 65535, "");
#define CHECKED 1
#endif
#ifdef OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE /* message.hpp: the metadata fits, counts of 16 bits  \
                                              */
_Static_assert(OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE > 48 + 4, "");
_Static_assert(OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE <= UINT16_MAX, "");
_Static_assert(OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE % 4 == 0, ""); /* sizeof(Buffer) is no more */
_Static_assert(OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS > 0, "");
_Static_assert(OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS <= UINT16_MAX, "");
#define CHECKED 1
#endif
#ifdef NX_APP_PACKET_POOL_SIZE /* NetX Duo: nxe_packet_pool_create.c, and nx_packet_allocate.c's   \
                                  room */
_Static_assert(NX_APP_PACKET_POOL_SIZE > 4 && NX_APP_PACKET_POOL_SIZE % 4 == 0, "");
_Static_assert(DEFAULT_PAYLOAD_SIZE >= 16 + 40 + 20, ""); /* NX_TCP_PACKET with IPv6 */
_Static_assert((60 + DEFAULT_PAYLOAD_SIZE + 3) / 4 * 4 <= NX_APP_PACKET_POOL_SIZE, "");
#define CHECKED 1
#endif
#ifdef CONFIG_GNRC_PKTBUF_SIZE /* RIOT: an array of words, in which free cells of two lie */
_Static_assert(CONFIG_GNRC_PKTBUF_SIZE > 0 && CONFIG_GNRC_PKTBUF_SIZE % 8 == 0, "");
_Static_assert(CONFIG_GNRC_PKTBUF_SIZE / sizeof(uint32_t) > 0, "");
#define CHECKED 1
#endif
#ifdef CFG_TUD_CDC_RX_BUFSIZE /* TinyUSB: tu_fifo_config's depth; a transfer needs an endpoint's   \
                                 room */
_Static_assert(CFG_TUD_CDC_RX_BUFSIZE >= 64 && CFG_TUD_CDC_RX_BUFSIZE <= 0x8000, "");
_Static_assert(CFG_TUD_NCM_OUT_NTB_N >= 1 && CFG_TUD_NCM_OUT_NTB_N <= UINT8_MAX, "");
_Static_assert(CFG_TUD_NCM_OUT_NTB_MAX_SIZE >= 2048,
               ""); /* Linux's least; wBlockLength's 16 bits */
_Static_assert(CFG_TUD_NCM_OUT_NTB_MAX_SIZE <= UINT16_MAX, "");
#define CHECKED 1
#endif
#ifdef CHIP_SYSTEM_CONFIG_PACKETBUFFER_POOL_SIZE /* Matter: a pool, not malloc; lengths of 16 bits \
                                                  */
_Static_assert(CHIP_SYSTEM_CONFIG_PACKETBUFFER_POOL_SIZE > 0, "");
_Static_assert(CHIP_SYSTEM_CONFIG_PACKETBUFFER_CAPACITY_MAX > 38 + 24, ""); /* header reserve */
_Static_assert(CHIP_SYSTEM_CONFIG_PACKETBUFFER_CAPACITY_MAX <= UINT16_MAX - 16, "");
#define CHECKED 1
#endif
#ifdef CHIP_CONFIG_MAX_EXCHANGE_CONTEXTS /* Matter's ObjectPool<T, N>: N objects in arrays */
_Static_assert(CHIP_CONFIG_MAX_EXCHANGE_CONTEXTS > 0, "");
#define CHECKED 1
#endif
