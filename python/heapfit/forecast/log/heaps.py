# SPDX-License-Identifier: Apache-2.0
"""The heaps and pools of one log, the one that needs an answer first.

What a stack prints of its own pools names none of its settings: the rows below do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf

from heapfit.forecast.log.outlook import Finding, Outlook, find_outlook
from heapfit.forecast.log.states import TelemetryLog

# What tells a stack in a log, the name of a pool of it, what it is counted in, what sets it, and,
# where known, the bytes of one with pointers of 32 bits and the stack's own standards: of rows of
# tables, and of printed lines.
_ROWS = (
    # Zephyr's net mem (subsys/net/lib/shell/mem.c): struct net_buf (include/zephyr/net_buf.h) has
    # 24 B, 20 where node and frags are a union; NET_BUF_USER_DATA_SIZE 4, DATA_SIZE 128
    (r"Total\s+Avail", r"RX DATA.*", "buffers", "CONFIG_NET_BUF_RX_COUNT", 156),
    (r"Total\s+Avail", r"TX DATA.*", "buffers", "CONFIG_NET_BUF_TX_COUNT", 156),
    (r"Total\s+Avail", r"RX\b.*", "buffers", "CONFIG_NET_PKT_RX_COUNT"),
    (r"Total\s+Avail", r"TX\b.*", "buffers", "CONFIG_NET_PKT_TX_COUNT"),
    (r"Total\s+Avail", r".*", "buffers", "the pool's NET_BUF_POOL_DEFINE"),
    (r"\bnused\s+nfree\b", "Kmem", "B", "CONFIG_MM_KERNEL_HEAPSIZE"),  # NuttX's free
    (r"\bnused\s+nfree\b", ".*", "B", "CONFIG_RAM_SIZE"),
    (r"^mempool\s+block", ".*", "blocks", "the block_count of its rt_mp_create"),  # RT-Thread
    (r"^memheap\s", ".*", "B", "the size of its rt_memheap_init"),
    (r"(?i)\b(total|avail)\s+used\s+max\s+err", ".*", "entries", "the number of its entries"),
)
_LINES = (
    (r"^MEM [A-Z]", "HEAP", "B", "MEM_SIZE"),  # lwIP's stats_display (src/core/stats.c)
    # struct pbuf (lwip/pbuf.h), and TCP_MSS 536 + 40 + 14 (lwip/opt.h), each aligned to 4
    (r"^MEM [A-Z]", "PBUF_POOL", "buffers", "PBUF_POOL_SIZE", 608),
    (r"^MEM [A-Z]", "PBUF_REF.*", "buffers", "MEMP_NUM_PBUF", 16),
    (r"^MEM [A-Z]", "TCP_SEG", "entries", "MEMP_NUM_TCP_SEG", 16),  # lwip/priv/tcp_priv.h
    (r"^MEM [A-Z]", r"(\w+)", "entries", r"MEMP_NUM_\1"),
    # Zephyr's kernel heap (subsys/shell/modules/kernel_service/heap.c)
    (r"kernel heap", r"kernel heap.*", "B", "CONFIG_HEAP_MEM_POOL_SIZE"),
    # OpenThread's bufferinfo (src/cli/cli.cpp): 32 pointers, src/core/config/misc.h
    (r"^6lo send:", ".*", "buffers", "OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS", 128),
    (r"alloc / free:", ".*", "B", "the size given to mbedtls_memory_buffer_alloc_init"),
    (r"biggest free:", ".*", "B", "LV_MEM_SIZE"),  # LVGL's lv_mem_monitor
    (r"\d-blocks: ", ".*", "B", "the heap's size given to gc_init"),  # MicroPython
    # ThreadX's nx_packet_pool_info_get
    (r"\bfree_packets\b", r".*free_packets", "packets", "the size given to nx_packet_pool_create"),
    (r"\btail memory\b|[Aa]rena", ".*", "B", "the tensor arena's size"),  # TFLite Micro
)


def find_setting(name: str, text: str, *, is_row: bool) -> tuple[str, str, int]:
    """What a heap or pool of a log is counted in, what sets its size, and the bytes of one.

    "" and 0 where nobody knows.

    >>> find_setting("TCP_SEG", "MEM TCP_SEG", is_row=False)
    ('entries', 'MEMP_NUM_TCP_SEG', 16)
    """
    for stack, pool, unit, setting, *each in _ROWS if is_row else _LINES:
        match = re.match(pool, name)
        if match and re.search(stack, text, re.MULTILINE):
            return unit, match.expand(setting), sum(each)
    return "B", "", 0


def judge_heaps(log: TelemetryLog, needed: Sequence[int] = ()) -> list[Outlook]:
    """What each heap of a log shows: first the one that falls and ends first, then by the log.

    `needed`: sizes of requests that are to be dated.
    """
    return sorted(
        (find_outlook(one, needed) for one in (log, *log.other_heaps)),
        key=lambda one: one.run_out.after if one.finding is Finding.FALLS and one.run_out else inf,
    )
