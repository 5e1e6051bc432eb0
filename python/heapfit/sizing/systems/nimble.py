# SPDX-License-Identifier: Apache-2.0
"""NimBLE: MSYS_1_BLOCK_COUNT and MSYS_1_BLOCK_SIZE, from the packets that the host holds.

Names and standards: apache/mynewt-core 07843426, kernel/os/syscfg.yml. A packet is a chain of
os_mbuf, each of which lies in a block; the first has the packet's header, too
(apache/mynewt-nimble 6b40986a, porting/nimble/include/os/os_mbuf.h).
"""

from __future__ import annotations

from heapfit.sizing.buffers import Layout
from heapfit.sizing.settings import Assumption, Form
from heapfit.sizing.systems.system import (
    Captures,
    PacketSettings,
    SizedSettings,
    System,
    Values,
    size_cheapest,
)

_ASSUMPTIONS = (
    Assumption("os_mbuf", 16, "sizeof(struct os_mbuf) in bytes", "os_mbuf.h, 32-bit pointers"),
    Assumption(
        "packet_header",
        8,
        "sizeof(struct os_mbuf_pkthdr) and what the sender keeps behind it, in bytes",
        "os_mbuf.h, 32-bit pointers; a controller on the same chip keeps a ble_mbuf_hdr more",
    ),
    Assumption(
        "leading",
        8,
        "kept before a packet for headers, in bytes",
        "4 of HCI and 4 of L2CAP, where the capture's sizes are those of L2CAP's payload",
    ),
)
_NAMES = ("MYNEWT_VAL_MSYS_1_BLOCK_SIZE", "MYNEWT_VAL_MSYS_1_BLOCK_COUNT")
_TRIED = (80, 112, 144, 196, 256, 292, 528)


def _size_from_packets(captures: Captures, known: Values) -> SizedSettings:
    least = known["os_mbuf"] + known["packet_header"] + 8  # os_mbuf_get_pkthdr needs some room
    pools = captures.size_buffers([_layout(max(size, least), known) for size in _TRIED])
    best, settings, choices = size_cheapest(pools, _NAMES, ("292", "12"), "packets")
    remarks = (
        "in ESP-IDF CONFIG_BT_NIMBLE_MSYS_1_BLOCK_COUNT and _SIZE; MSYS_2 is left out",
        "events of HCI have pools of their own",
    )
    return SizedSettings(settings, best.memory, choices, remarks)


def _layout(size: int, known: Values) -> Layout:
    later = size - known["os_mbuf"]
    memory = -(-size // 4) * 4  # OS_ALIGN of a block
    return Layout(size, later - known["packet_header"], later, known["leading"], memory)


NIMBLE = System("NimBLE", Form.DEFINE, PacketSettings(_ASSUMPTIONS, _size_from_packets), heap=None)
