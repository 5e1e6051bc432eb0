# SPDX-License-Identifier: Apache-2.0
"""lwIP: PBUF_POOL_SIZE, PBUF_POOL_BUFSIZE and MEMP_NUM_* from packets, MEM_SIZE from recordings.

Names and standards: src/include/lwip/opt.h of lwIP 2.2 (commit 3d896ba0). A received frame takes
a chain of pbufs from PBUF_POOL: struct pbuf and PBUF_POOL_BUFSIZE bytes each (core/pbuf.c,
priv/memp_std.h). mem_malloc takes the lowest chunk that fits, behind a header (core/mem.c).
"""

from __future__ import annotations

from dataclasses import replace

from heapfit.comparison.incumbents.heap import Heap, find_heap, make_system_heap
from heapfit.comparison.incumbents.heaps import SYSTEM_HEAPS
from heapfit.sizing.buffers import BufferPool, Layout
from heapfit.sizing.settings import Assumption, Form, Setting
from heapfit.sizing.systems.system import (
    Captures,
    HeapSetting,
    PacketSettings,
    SizedSettings,
    System,
    Values,
    size_cheapest,
)

_ALIGNMENT = Assumption(
    "alignment", 8, "MEM_ALIGNMENT in bytes", "as `fit` without --alignment; opt.h itself has 1"
)
_OF_PACKETS = (
    _ALIGNMENT,
    Assumption(
        "struct_pbuf", 16, "sizeof(struct pbuf) in bytes", "lwip/pbuf.h with 32-bit pointers"
    ),
    Assumption(
        "link_header",
        14,
        "PBUF_LINK_HLEN: stored with each packet, in bytes",
        "opt.h without ETHARP_SUPPORT_VLAN and with ETH_PAD_SIZE 0",
    ),
    Assumption("mtu", 1500, "largest IP packet that one buffer is tried for, in bytes", "Ethernet"),
    Assumption("headers", 40, "of IP and TCP in a packet, in bytes", "IPv4; 60 with IPv6"),
    Assumption("tcp_mss", 536, "TCP_MSS in bytes; 0: no TCP", "opt.h"),
    Assumption("tcp_wnd", 2144, "TCP_WND in bytes, if the buffers carry it", "opt.h: 4 * TCP_MSS"),
)
_FACTS = SYSTEM_HEAPS["lwip-mem"]
_OF_HEAP = (
    _ALIGNMENT,
    Assumption(
        "mem_header",
        _FACTS["header"],
        "SIZEOF_STRUCT_MEM in bytes; 12 above 64,000",
        "core/mem.c, 16-bit sizes (MEM_SIZE <= 64000)",
    ),
    Assumption("mem_least", _FACTS["least"], "MIN_SIZE of mem_malloc in bytes", "core/mem.c"),
)
_STANDARD_BUFFER = 592  # TCP_MSS 536 + 20 + 20 + 14, aligned to 4; opt.h, IPv4 only
_LEAST_BUFFER = 128  # the headers and some payload; lwIP refuses 74 and less
_TRIED = (_LEAST_BUFFER, 256, 384, 512, _STANDARD_BUFFER, 768, 1024)


def _size_from_packets(captures: Captures, known: Values) -> SizedSettings:
    whole = _align_up(known["mtu"] + known["link_header"], known)
    sizes = sorted({*(size for size in _TRIED if size < whole), whole})
    sized = captures.size_buffers([_layout(size, known) for size in sizes])
    pools = [_with_window(pool, known) for pool in sized]
    names = ("PBUF_POOL_BUFSIZE", "PBUF_POOL_SIZE")
    standards = (f"{_STANDARD_BUFFER} for TCP_MSS 536", "16")
    best, settings, choices = size_cheapest(pools, names, standards, "chains of pbufs")
    packets = captures.size_packets()
    messages = Setting(
        "MEMP_NUM_TCPIP_MSG_INPKT",
        packets.count,
        "8",
        packets,
        "Packets at once, if all wait in front of tcpip_thread (an upper bound; without use where "
        "LWIP_TCPIP_CORE_LOCKING_INPUT is 1 or NO_SYS is 1).",
    )
    remarks = ("bytes are those of PBUF_POOL alone",)
    all_settings = (*settings, messages, *_window(best, known))
    return SizedSettings(all_settings, best.memory, choices, remarks)


def _room(pool: BufferPool, known: Values) -> int:
    """Bytes of payload that core/init.c takes a buffer to carry."""
    return max(pool.layout.buffer_size - known["link_header"] - known["headers"], 1)


def _with_window(pool: BufferPool, known: Values) -> BufferPool:
    """The pool with at least as many buffers as carry one segment, below which lwIP refuses to
    build.
    """
    least = -(-known["tcp_mss"] // _room(pool, known))
    return replace(pool, run_out=replace(pool.run_out, count=max(pool.run_out.count, least)))


def _window(pool: BufferPool, known: Values) -> tuple[Setting, ...]:
    """The window that these buffers carry; none without TCP."""
    mss, wanted = known["tcp_mss"], known["tcp_wnd"]
    if mss == 0:
        return ()
    carried = pool.run_out.count * _room(pool, known) // mss * mss
    why = (
        "PBUF_POOL_SIZE * (PBUF_POOL_BUFSIZE - headers) carry it, in whole segments; lwIP refuses "
        "to build with more (core/init.c)."
    )
    return (Setting("TCP_WND", min(wanted, carried), "4 * TCP_MSS, so 2144", None, why),)


def _layout(size: int, known: Values) -> Layout:
    aligned = _align_up(size, known)
    memory = _align_up(known["struct_pbuf"], known) + aligned
    return Layout(size, aligned, aligned, known["link_header"], memory)


def _align_up(size: int, known: Values) -> int:
    alignment = max(known["alignment"], 1)
    return -(-size // alignment) * alignment


def _make_heap(known: Values) -> Heap:
    """mem.c's heap; headers grow with its size where nothing else is assumed of them."""
    alignment, header, least = max(4, known["alignment"]), known["mem_header"], known["mem_least"]
    if (header, least) == (_FACTS["header"], _FACTS["least"]):
        return find_heap("lwip-mem", alignment)
    changed = {"header": max(4, header), "rest": least, "least": least, "largest_short": 0}
    return make_system_heap("lwip-mem", alignment, **changed)


LWIP = System(
    "lwIP",
    Form.DEFINE,
    PacketSettings(_OF_PACKETS, _size_from_packets),
    HeapSetting(
        "MEM_SIZE",
        "1600",
        "Pools' blocks are in it if the recordings hold them (MEMP_MEM_MALLOC 1).",
        _OF_HEAP,
        _make_heap,
        (Setting("MEMP_MEM_MALLOC", 0, "0", None, "Pools with names have their own memory."),),
    ),
)
