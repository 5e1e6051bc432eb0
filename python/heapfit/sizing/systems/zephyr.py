# SPDX-License-Identifier: Apache-2.0
"""Zephyr: NET_PKT_* and NET_BUF_* from packets, HEAP_MEM_POOL_SIZE from a heap trace.

Names and standards: subsys/net/ip/Kconfig and kernel/Kconfig. A packet is a net_pkt and a chain of
net_buf, each with NET_BUF_DATA_SIZE bytes (NET_BUF_FIXED_DATA_SIZE, include/zephyr/net_buf.h). The
kernel's heap has chunks of 8 bytes behind a header of 4, or 8 from 256 KiB on (lib/heap/heap.h).
"""

from __future__ import annotations

from collections.abc import Mapping

from heapfit.comparison.incumbents.families.zephyr import sys_heap
from heapfit.progress import Progress
from heapfit.sizing.buffers import BufferPool, Layout, least_memory, size_buffers, size_packets
from heapfit.sizing.heap_region import size_heap
from heapfit.sizing.run_out import RunOut
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
    Assumption(
        "net_buf",
        24,
        "sizeof(struct net_buf) in bytes",
        "include/zephyr/net_buf.h, 32-bit pointers",
    ),
    Assumption(
        "user_data", 4, "NET_PKT_BUF_USER_DATA_SIZE, aligned, in bytes", "its Kconfig default"
    ),
    Assumption(
        "net_pkt",
        88,
        "sizeof(struct net_pkt) in bytes",
        "a guess: it depends on the protocols built in; see `net mem` or a map file",
    ),
    Assumption("link_header", 14, "stored with each packet, in bytes", "Ethernet"),
    Assumption("mtu", 1500, "largest IP packet that one buffer is tried for, in bytes", "Ethernet"),
)
_STANDARD_BUFFER = 128
_TRIED = (64, _STANDARD_BUFFER, 256, 512, 1024)


def settings_for(trace: Trace, options: SettingsOptions, progress: Progress) -> Settings:
    """Sizes Zephyr's settings from packets or from a heap trace, as the trace is."""
    known = override_assumptions(ASSUMPTIONS, options.assume, "zephyr")
    if trace.info.kind == "packets":
        return _from_packets(trace, options, known, progress)
    return _from_heap(trace, options, known, progress)


def _from_packets(
    trace: Trace, options: SettingsOptions, known: Mapping[str, Assumption], progress: Progress
) -> Settings:
    whole = -(-(known["mtu"].value + known["link_header"].value) // 4) * 4
    sizes = sorted({*(size for size in _TRIED if size < whole), whole})
    pools = size_buffers(
        trace, [_layout(size, known) for size in sizes], options.admission, progress
    )
    packets = size_packets(trace, options.admission, progress)
    best = least_memory(pools)
    other = "RX" if options.is_sent else "TX"
    return Settings(
        system="Zephyr",
        form=Form.KCONFIG,
        admission=options.admission,
        settings=_packet_settings(best, packets, "TX" if options.is_sent else "RX"),
        memory=best.memory + known["net_pkt"].value * packets.count,
        choices=tuple(
            BufferChoice(pool.layout.buffer_size, pool.run_out.count, pool.memory) for pool in pools
        ),
        assumptions=tuple(known.values()),
        remarks=(
            "NET_BUF_DATA_SIZE holds for received and sent packets",
            f"{other} counts: size them from a capture of just these packets"
            + ("" if options.is_sent else " with --sent"),
        ),
    )


def _packet_settings(best: BufferPool, packets: RunOut, way: str) -> tuple[Setting, ...]:
    return (
        Setting(
            "NET_BUF_DATA_SIZE",
            best.layout.buffer_size,
            str(_STANDARD_BUFFER),
            None,
            "Needs the least RAM of the sizes compared, for whole chains of net_buf.",
        ),
        Setting(
            f"NET_BUF_{way}_COUNT",
            best.run_out.count,
            "36 with Ethernet, else 16",
            best.run_out,
            "Buffers of the chains of all packets at once.",
        ),
        Setting(
            f"NET_PKT_{way}_COUNT",
            packets.count,
            "14 with Ethernet, else 4",
            packets,
            "Packets at once.",
        ),
    )


def _layout(size: int, known: Mapping[str, Assumption]) -> Layout:
    own = known["net_buf"].value + known["user_data"].value
    return Layout(size, size, size, known["link_header"].value, own + -(-size // 4) * 4)


def _from_heap(
    trace: Trace, options: SettingsOptions, known: Mapping[str, Assumption], progress: Progress
) -> Settings:
    own = size_named_settings(trace, options, progress)
    rule = sys_heap()
    heap = size_heap(trace, rule, options.admission, options.named, progress)
    size = Setting(
        "HEAP_MEM_POOL_SIZE",
        -(-rule.set_to(heap.run_out.count) // 8) * 8,
        "0, or what drivers ask for",
        heap.run_out,
        "Simulated from sys_heap's algorithm. k_malloc asks for 4 bytes more, for a pointer to "
        "its heap; the trace holds them if it was recorded at the heap.",
    )
    return Settings(
        system="Zephyr",
        form=Form.KCONFIG,
        admission=options.admission,
        settings=(*(setting for setting, _ in own), size),
        memory=size.value + sum(one * setting.value for setting, one in own),
        choices=(),
        assumptions=tuple(known.values()),
        remarks=(f"smallest that serves the trace: {rule.set_to(heap.r_safe):,} bytes",),
    )
