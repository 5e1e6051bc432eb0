/* SPDX-License-Identifier: Apache-2.0 */
/* What the stacks themselves check of their settings, in our words: a file of settings before it.
 */
#ifdef MYNEWT_VAL_MSYS_1_BLOCK_SIZE /* NimBLE: os_mempool.h's counts, os_mbuf_get_pkthdr's room */
_Static_assert(MYNEWT_VAL_MSYS_1_BLOCK_COUNT > 0 && MYNEWT_VAL_MSYS_1_BLOCK_COUNT <= 65535, "");
_Static_assert(MYNEWT_VAL_MSYS_1_BLOCK_SIZE > 16 + 8 && MYNEWT_VAL_MSYS_1_BLOCK_SIZE <= 65535, "");
#endif
#ifdef CONFIG_BT_BUF_ACL_RX_SIZE /* Zephyr: Kconfig's ranges with BT_SMP, buf.h's assertion */
_Static_assert(CONFIG_BT_BUF_ACL_RX_SIZE >= 69 && CONFIG_BT_BUF_ACL_RX_SIZE <= 65535, "");
_Static_assert(CONFIG_BT_BUF_ACL_RX_COUNT_EXTRA >= 1, "");
_Static_assert(1 + CONFIG_BT_BUF_ACL_RX_COUNT_EXTRA <= 65535, "");
#endif
