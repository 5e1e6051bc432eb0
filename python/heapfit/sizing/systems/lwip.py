# SPDX-License-Identifier: Apache-2.0
"""lwIP: PBUF_POOL_SIZE, PBUF_POOL_BUFSIZE and MEMP_NUM_* from packets, MEM_SIZE from a heap trace.

Names and standards: src/include/lwip/opt.h of lwIP 2.2 (commit 3d896ba0). A received frame takes
a chain of pbufs from PBUF_POOL: struct pbuf and PBUF_POOL_BUFSIZE bytes each (core/pbuf.c,
priv/memp_std.h). mem_malloc takes the lowest chunk that fits, behind a header (core/mem.c).
"""

from __future__ import annotations

from collections.abc import Mapping

from heapfit.plan.plan import Plan
from heapfit.progress import Progress
from heapfit.sizing.buffers import BufferPool, Layout, least_memory, size_buffers, size_packets
from heapfit.sizing.heap_region import size_heap
from heapfit.sizing.settings import (
    Assumption,
    Choice,
    Form,
    Setting,
    Settings,
    SettingsOptions,
    assumed,
)
from heapfit.sizing.systems.named import named_settings
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
    Assumption(
        "mem_header",
        8,
        "SIZEOF_STRUCT_MEM in bytes; 12 above 64,000",
        "core/mem.c, 16-bit sizes (MEM_SIZE <= 64000)",
    ),
    Assumption("mem_least", 12, "MIN_SIZE of mem_malloc in bytes", "core/mem.c"),
)
_STANDARD_BUFFER = 592  # TCP_MSS 536 + 20 + 20 + 14, aligned to 4; opt.h, IPv4 only
_LEAST_BUFFER = 128  # the headers and some payload; lwIP refuses 74 and less
_LARGEST_SHORT = 64_000  # of MEM_SIZE, with 16-bit sizes in a header
_SHORT_HEADER, _LONG_HEADER = 8, 12
_TRIED = (_LEAST_BUFFER, 256, 384, 512, _STANDARD_BUFFER, 768, 1024)


def settings_for(trace: Trace, options: SettingsOptions, progress: Progress) -> Settings:
    """From packets or from a heap trace, as the trace is."""
    known = assumed(ASSUMPTIONS, options.assume, "lwip")
    if trace.info.kind == "packets":
        return _from_packets(trace, options, known, progress)
    return _from_heap(trace, options, known, progress)


def _from_packets(
    trace: Trace, options: SettingsOptions, known: Mapping[str, Assumption], progress: Progress
) -> Settings:
    whole = _aligned(known["mtu"].value + known["link_header"].value, known)
    sizes = sorted({*(size for size in _TRIED if size < whole), whole})
    pools = size_buffers(
        trace, [_layout(size, known) for size in sizes], options.admission, progress
    )
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
                "Costs least of the sizes compared, whole chains of pbufs counted.",
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
        ),
        memory=best.memory,
        choices=tuple(_choice(pool) for pool in pools),
        assumptions=tuple(known.values()),
        remarks=(
            "bytes are those of PBUF_POOL alone",
            "lwIP refuses to build where TCP_WND is larger than PBUF_POOL_SIZE * "
            "(PBUF_POOL_BUFSIZE - headers): core/init.c",
        ),
    )


def _mem(header: int, known: Mapping[str, Assumption]) -> Plan:
    """The allocator that is most like mem_malloc."""
    return Plan(
        "first_fit",
        {
            "alignment": max(4, known["alignment"].value),
            "list": 1,
            "header_size": max(4, header),
            "least_split": header + known["mem_least"].value,
        },
    )


def _layout(size: int, known: Mapping[str, Assumption]) -> Layout:
    return Layout(
        buffer_size=size,
        first=_aligned(size, known),
        later=_aligned(size, known),
        extra=known["link_header"].value,
        memory=_aligned(known["struct_pbuf"].value, known) + _aligned(size, known),
    )


def _aligned(size: int, known: Mapping[str, Assumption]) -> int:
    alignment = max(known["alignment"].value, 1)
    return -(-size // alignment) * alignment


def _choice(pool: BufferPool) -> Choice:
    return Choice(pool.layout.buffer_size, pool.run_out.count, pool.memory)


def _from_heap(
    trace: Trace, options: SettingsOptions, known: Mapping[str, Assumption], progress: Progress
) -> Settings:
    own = named_settings(trace, options, progress)
    header = known["mem_header"].value
    heap = size_heap(trace, _mem(header, known), options.admission, options.named, progress)
    if heap.run_out.count > _LARGEST_SHORT and header == _SHORT_HEADER:
        header = _LONG_HEADER
        heap = size_heap(trace, _mem(header, known), options.admission, options.named, progress)
    mem_size = Setting(
        "MEM_SIZE",
        heap.run_out.count,
        "1600",
        heap.run_out,
        f"Region of heapfit's first fit by address with lwIP's header of {header} bytes: "
        "mem_malloc's rule, not its code.",
    )
    return Settings(
        system="lwIP",
        form=Form.DEFINE,
        admission=options.admission,
        settings=(*(setting for setting, _ in own), mem_size),
        memory=heap.run_out.count
        + 2 * header
        + sum(_aligned(size, known) * setting.value for setting, size in own),
        choices=(),
        assumptions=tuple(known.values()),
        remarks=(f"without a refusal in the trace: MEM_SIZE {heap.r_safe:,}",),
    )
