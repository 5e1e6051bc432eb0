# SPDX-License-Identifier: Apache-2.0
"""lwIP: PBUF_POOL_SIZE, PBUF_POOL_BUFSIZE and MEMP_NUM_* from packets, MEM_SIZE from a heap trace.

Names and standards: src/include/lwip/opt.h of lwIP 2.2 (commit 3d896ba0). A received frame takes
a chain of pbufs from PBUF_POOL: struct pbuf and PBUF_POOL_BUFSIZE bytes each (core/pbuf.c,
priv/memp_std.h). mem_malloc takes the lowest chunk that fits, behind a header (core/mem.c).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from heapfit.comparison.incumbents.families.lwip import (
    LARGEST_SHORT,
    LEAST,
    LONG_HEADER,
    SHORT_HEADER,
    lwip_mem,
)
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.progress import Progress
from heapfit.sizing.buffers import BufferPool, Layout, least_memory, size_buffers, size_packets
from heapfit.sizing.heap_region import size_heap
from heapfit.sizing.settings import (
    Assumption,
    BufferChoice,
    Form,
    Setting,
    Settings,
    SettingsOptions,
    override_assumptions,
)
from heapfit.sizing.systems.named import size_named_settings
from heapfit.trace.stored import Trace

ASSUMPTIONS = (
    Assumption("alignment", 4, "MEM_ALIGNMENT in bytes", "32-bit ports; opt.h itself has 1"),
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
    Assumption(
        "memp_in_heap", 1, "MEMP_MEM_MALLOC, as it was recorded", "a guess; without use with --name"
    ),
    Assumption(
        "mem_header",
        SHORT_HEADER,
        "SIZEOF_STRUCT_MEM in bytes; 12 above 64,000",
        "core/mem.c, 16-bit sizes (MEM_SIZE <= 64000)",
    ),
    Assumption("mem_least", LEAST, "MIN_SIZE of mem_malloc in bytes", "core/mem.c"),
)
_STANDARD_BUFFER = 592  # TCP_MSS 536 + 20 + 20 + 14, aligned to 4; opt.h, IPv4 only
_LEAST_BUFFER = 128  # the headers and some payload; lwIP refuses 74 and less
_TRIED = (_LEAST_BUFFER, 256, 384, 512, _STANDARD_BUFFER, 768, 1024)


def settings_for(trace: Trace, options: SettingsOptions, progress: Progress) -> Settings:
    """Sizes lwIP's settings from packets or from a heap trace, as the trace is."""
    known = override_assumptions(ASSUMPTIONS, options.assume, "lwip")
    if trace.info.kind == "packets":
        return _from_packets(trace, options, known, progress)
    return _from_heap(trace, options, known, progress)


def _from_packets(
    trace: Trace, options: SettingsOptions, known: Mapping[str, Assumption], progress: Progress
) -> Settings:
    whole = _align_up(known["mtu"].value + known["link_header"].value, known)
    sizes = sorted({*(size for size in _TRIED if size < whole), whole})
    layouts = [_layout(size, known) for size in sizes]
    pools = [
        _with_window(pool, known)
        for pool in size_buffers(trace, layouts, options.admission, progress)
    ]
    best = least_memory(pools)
    packets = size_packets(trace, options.admission, progress)
    return Settings(
        system="lwIP",
        form=Form.DEFINE,
        admission=options.admission,
        settings=(
            Setting(
                "PBUF_POOL_BUFSIZE",
                best.layout.buffer_size,
                f"{_STANDARD_BUFFER} for TCP_MSS 536",
                None,
                "Needs the least RAM of the sizes compared, for whole chains of pbufs.",
            ),
            Setting(
                "PBUF_POOL_SIZE",
                best.run_out.count,
                "16",
                best.run_out,
                "Pbufs of the chains of all packets in the stack at once.",
            ),
            Setting(
                "MEMP_NUM_TCPIP_MSG_INPKT",
                packets.count,
                "8",
                packets,
                "Packets at once, if all wait in front of tcpip_thread (an upper bound; without "
                "use where LWIP_TCPIP_CORE_LOCKING_INPUT is 1 or NO_SYS is 1).",
            ),
            *_window(best, known),
            _alignment(known),
        ),
        memory=best.memory,
        choices=tuple(_choice(pool) for pool in pools),
        assumptions=tuple(known.values()),
        remarks=("bytes are those of PBUF_POOL alone",),
    )


def _room(pool: BufferPool, known: Mapping[str, Assumption]) -> int:
    """Bytes of payload that core/init.c takes a buffer to carry."""
    around = known["link_header"].value + known["headers"].value
    return max(pool.layout.buffer_size - around, 1)


def _with_window(pool: BufferPool, known: Mapping[str, Assumption]) -> BufferPool:
    """The pool with at least as many buffers as carry one segment, below which lwIP refuses to
    build.
    """
    least = -(-known["tcp_mss"].value // _room(pool, known))
    return replace(pool, run_out=replace(pool.run_out, count=max(pool.run_out.count, least)))


def _window(pool: BufferPool, known: Mapping[str, Assumption]) -> tuple[Setting, ...]:
    """The window that these buffers carry; none without TCP."""
    mss, wanted = known["tcp_mss"].value, known["tcp_wnd"].value
    if mss == 0:
        return ()
    carried = pool.run_out.count * _room(pool, known) // mss * mss
    why = (
        "PBUF_POOL_SIZE * (PBUF_POOL_BUFSIZE - headers) carry it, in whole segments; lwIP refuses "
        "to build with more (core/init.c)."
    )
    return (Setting("TCP_WND", min(wanted, carried), "4 * TCP_MSS, so 2144", None, why),)


def _alignment(known: Mapping[str, Assumption]) -> Setting:
    why = "What sizes are rounded to here."
    return Setting("MEM_ALIGNMENT", max(1, known["alignment"].value), "1", None, why)


def _mem(header: int, known: Mapping[str, Assumption]) -> SystemHeap:
    return lwip_mem(max(4, known["alignment"].value), max(4, header), known["mem_least"].value)


def _layout(size: int, known: Mapping[str, Assumption]) -> Layout:
    return Layout(
        buffer_size=size,
        first=_align_up(size, known),
        later=_align_up(size, known),
        extra=known["link_header"].value,
        memory=_align_up(known["struct_pbuf"].value, known) + _align_up(size, known),
    )


def _align_up(size: int, known: Mapping[str, Assumption]) -> int:
    alignment = max(known["alignment"].value, 1)
    return -(-size // alignment) * alignment


def _choice(pool: BufferPool) -> BufferChoice:
    return BufferChoice(pool.layout.buffer_size, pool.run_out.count, pool.memory)


def _from_heap(
    trace: Trace, options: SettingsOptions, known: Mapping[str, Assumption], progress: Progress
) -> Settings:
    own = size_named_settings(trace, options, progress)
    rule = _mem(known["mem_header"].value, known)
    heap = size_heap(trace, rule, options.admission, options.named, progress)
    has_short = known["mem_header"].value == SHORT_HEADER
    if has_short and rule.set_to(heap.run_out.count) > LARGEST_SHORT:
        rule = _mem(LONG_HEADER, known)
        heap = size_heap(trace, rule, options.admission, options.named, progress)
    header = rule.plan.scalars["header_size"]
    mem_size = Setting(
        "MEM_SIZE",
        rule.set_to(heap.run_out.count),
        "1600",
        heap.run_out,
        f"Simulated from mem_malloc's algorithm, with a header of {header} bytes.",
    )
    return Settings(
        system="lwIP",
        form=Form.DEFINE,
        admission=options.admission,
        settings=(
            _alignment(known),
            _memp_in_heap(options, known),
            *(setting for setting, _ in own),
            mem_size,
        ),
        memory=heap.run_out.count
        + sum(_align_up(size, known) * setting.value for setting, size in own),
        choices=(),
        assumptions=tuple(known.values()),
        remarks=(f"smallest that serves the trace: MEM_SIZE {rule.set_to(heap.r_safe):,}",),
    )


def _memp_in_heap(options: SettingsOptions, known: Mapping[str, Assumption]) -> Setting:
    """Pools with names have memory of their own, so none is in the heap."""
    value = 0 if options.named else min(1, known["memp_in_heap"].value)
    why = (
        "The pools' blocks are in the recording, so MEM_SIZE holds them."
        if value
        else "MEM_SIZE holds no pool's blocks."
    )
    return Setting("MEMP_MEM_MALLOC", value, "0", None, why)
