# SPDX-License-Identifier: Apache-2.0
"""Zephyr: NET_PKT_* and NET_BUF_* from packets, HEAP_MEM_POOL_SIZE from a heap's recordings.

Names and standards: subsys/net/ip/Kconfig and kernel/Kconfig. A packet is a net_pkt and a chain of
net_buf, each with NET_BUF_DATA_SIZE bytes (NET_BUF_FIXED_DATA_SIZE, include/zephyr/net_buf.h). The
kernel's heap has chunks of 8 bytes behind a header of 4, or 8 from 256 KiB on (lib/heap/heap.h).
"""

from __future__ import annotations

from dataclasses import replace

from heapfit.comparison.incumbents.heap import find_heap
from heapfit.sizing.buffers import Layout
from heapfit.sizing.settings import Assumption, Form, Setting
from heapfit.sizing.systems.system import (
    SENT,
    Captures,
    HeapSetting,
    PacketSettings,
    SizedSettings,
    System,
    Values,
    size_cheapest,
)

_ASSUMPTIONS = (
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
    SENT,
)
_TRIED = (64, 128, 256, 512, 1024)
_HEAP_NAME = "HEAP_MEM_POOL_SIZE"


def _size_from_packets(captures: Captures, known: Values) -> SizedSettings:
    is_sent = known["sent"]
    way, other = ("TX", "RX") if is_sent else ("RX", "TX")
    whole = -(-(known["mtu"] + known["link_header"]) // 4) * 4
    sizes = sorted({*(size for size in _TRIED if size < whole), whole})
    pools = captures.size_buffers([_layout(size, known) for size in sizes])
    names, standards = (
        ("NET_BUF_DATA_SIZE", f"NET_BUF_{way}_COUNT"),
        ("128", "36 with Ethernet, else 16"),
    )
    best, settings, choices = size_cheapest(pools, names, standards, "chains of net_buf")
    found = captures.size_packets()
    standard = "14 with Ethernet, else 4"
    packets = Setting(f"NET_PKT_{way}_COUNT", found.count, standard, found, "Packets at once.")
    remarks = (
        "NET_BUF_DATA_SIZE holds for received and sent packets",
        f"{other} counts: size them from a capture of just these packets"
        + ("" if is_sent else " with --assume sent=1"),
    )
    memory = best.memory + known["net_pkt"] * found.count
    return SizedSettings((*settings, packets), memory, choices, remarks)


def _layout(size: int, known: Values) -> Layout:
    own = known["net_buf"] + known["user_data"]
    return Layout(size, size, size, known["link_header"], own + -(-size // 4) * 4)


ZEPHYR = System(
    "Zephyr",
    Form.KCONFIG,
    PacketSettings(_ASSUMPTIONS, _size_from_packets),
    HeapSetting(
        _HEAP_NAME,
        "0, or what drivers ask for",
        "k_malloc asks for 4 bytes more, for a pointer to its heap; recordings made at the heap "
        "hold them.",
        (),
        lambda _: replace(find_heap("sys_heap", 4), setting=_HEAP_NAME),
    ),
)
