# SPDX-License-Identifier: Apache-2.0
"""Stacks that keep a packet in a chain of equal buffers: OpenThread, NimBLE and NetX Duo.

    first  | stack's own | packet's own | leading | packet ... |
    later  | stack's own | packet ...                          |

OpenThread: a pointer to the next buffer, and a message's metadata (src/core/common/message.hpp at
025fb215; standards: src/core/config/misc.h at 0291abe1). NimBLE: an os_mbuf, and the packet's
header (mynewt-nimble 6b40986a, porting/nimble/include/os/os_mbuf.h; standards: mynewt-core
07843426, kernel/os/syscfg.yml). NetX Duo: an NX_PACKET ahead of the payload (bd5d12e9,
common/inc/nx_api.h, common/src/nx_packet_pool_create.c); its settings are named as in STM32Cube.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from heapfit.errors import HeapfitError
from heapfit.sizing.buffers import BufferPool, Layout
from heapfit.sizing.settings import Assumption, Form
from heapfit.sizing.systems.system import (
    Captures,
    PacketSettings,
    SizedSettings,
    System,
    Values,
    size_cheapest,
)

_LEAST = 8  # bytes of a packet that its first buffer has to hold


@dataclass(frozen=True, slots=True)
class _Chains:
    """What is known of one stack's chains."""

    names: tuple[str, str]  # of the settings of a buffer's size, and of their count
    standards: tuple[str, str]
    holds: str
    tried: tuple[int, ...]  # buffer sizes
    layout: Callable[[int, Values], Layout]
    remarks: tuple[str, ...]
    counts_bytes: bool = False  # the second setting is the bytes of all buffers
    beside: Callable[[Layout, Values], int] | None = None  # buffers that no capture holds

    def size(self, captures: Captures, known: Values) -> SizedSettings:
        """The settings of the buffer size that costs least."""
        layouts = [self.layout(size, known) for size in self.tried]
        roomy = [one for one in layouts if one.first >= _LEAST]
        if not roomy:
            raise HeapfitError(
                f"assume: what is assumed leaves no room in a buffer of {self.tried[-1]} bytes"
            )
        pools = [self._add(pool, known) for pool in captures.size_buffers(roomy)]
        best, settings, choices = size_cheapest(pools, self.names, self.standards, self.holds)
        size, count = settings
        if self.counts_bytes:
            why = f"{count.value} packets at once, each with its own header."
            count = replace(count, value=best.memory, why=why)
        return SizedSettings((size, count), best.memory, choices, self.remarks)

    def _add(self, pool: BufferPool, known: Values) -> BufferPool:
        more = self.beside(pool.layout, known) if self.beside else 0
        return replace(pool, run_out=replace(pool.run_out, count=pool.run_out.count + more))


def _layout_openthread(size: int, known: Values) -> Layout:
    later = size - known["pointer"]
    mask = 4 * -(-known["children"] // 32)  # a bit for each child, in whole words
    return Layout(size, later - known["metadata"] - mask, later, known["reserved"], size)


def _count_waiting(layout: Layout, known: Values) -> int:
    """Buffers of messages that wait for sleepy children, and of a burst."""
    return known["sleepy"] * layout.count_buffers(known["child_message"]) + known[
        "burst"
    ] * layout.count_buffers(known["burst_message"])


def _layout_nimble(size: int, known: Values) -> Layout:
    later = size - known["os_mbuf"]
    memory = -(-size // 4) * 4  # OS_ALIGN of a block
    return Layout(size, later - known["packet_header"], later, known["leading"], memory)


def _layout_netx(size: int, known: Values) -> Layout:
    unit = max(known["alignment"], 1)
    header = -(-known["nx_packet"] // unit) * unit
    memory = -(-(header + size) // unit) * unit
    return Layout(size, size - known["physical_header"], size, 0, memory)


_OPENTHREAD = _Chains(
    ("OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE", "OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS"),
    ("32 * sizeof(void *), so 128", "44"),
    "messages",
    (80, 96, 112, 128, 160, 192, 256),
    _layout_openthread,
    (
        "MLE, CoAP and other control messages that the capture does not hold come on top: "
        "--assume burst=N for N of them at once, sleepy=N for children that a message waits for",
        "without use where OPENTHREAD_CONFIG_MESSAGE_USE_HEAP_ENABLE is 1",
    ),
    beside=_count_waiting,
)
_NIMBLE = _Chains(
    ("MYNEWT_VAL_MSYS_1_BLOCK_SIZE", "MYNEWT_VAL_MSYS_1_BLOCK_COUNT"),
    ("292", "12"),
    "packets",
    (80, 112, 144, 196, 256, 292, 528),
    _layout_nimble,
    (
        "in ESP-IDF CONFIG_BT_NIMBLE_MSYS_1_BLOCK_COUNT and _SIZE; MSYS_2 is left out",
        "events of HCI have pools of their own",
    ),
)
_NETX = _Chains(
    ("DEFAULT_PAYLOAD_SIZE", "NX_APP_PACKET_POOL_SIZE"),
    ("1536", "10 packets"),
    "packets",
    (256, 512, 768, 1024, 1536),
    _layout_netx,
    (
        "for nx_packet_pool_create(pool, name, DEFAULT_PAYLOAD_SIZE, memory, "
        "NX_APP_PACKET_POOL_SIZE)",
        "below 1536 only with a driver that chains packets; with NX_DISABLE_PACKET_CHAIN a packet "
        "has to hold a whole frame",
    ),
    counts_bytes=True,
)
OPENTHREAD = System(
    "OpenThread",
    Form.DEFINE,
    PacketSettings(
        (
            Assumption(
                "metadata",
                44,
                "sizeof(Buffer::Metadata) without its mask of children, in bytes",
                "inferred from message.hpp for 32-bit pointers",
            ),
            Assumption("pointer", 4, "sizeof(otMessageBuffer) in bytes", "32-bit pointers"),
            Assumption(
                "reserved",
                0,
                "kept before a message for headers, in bytes",
                "depends on the sender",
            ),
            Assumption(
                "children", 10, "OPENTHREAD_CONFIG_MLE_MAX_CHILDREN; 0 of a device without", "mle.h"
            ),
            Assumption("sleepy", 0, "children asleep for which a message waits each", "none"),
            Assumption(
                "child_message",
                1280,
                "of such a message, in bytes",
                "OPENTHREAD_CONFIG_DEFAULT_SED_BUFFER_SIZE",
            ),
            Assumption("burst", 0, "messages at once beside those of the capture", "none"),
            Assumption("burst_message", 1280, "of such a message, in bytes", "IPv6's least MTU"),
        ),
        _OPENTHREAD.size,
    ),
)
NIMBLE = System(
    "NimBLE",
    Form.DEFINE,
    PacketSettings(
        (
            Assumption("os_mbuf", 16, "sizeof(struct os_mbuf) in bytes", "32-bit pointers"),
            Assumption(
                "packet_header",
                8,
                "sizeof(struct os_mbuf_pkthdr) and what the sender keeps behind it, in bytes",
                "32-bit pointers; a controller on the same chip keeps a ble_mbuf_hdr more",
            ),
            Assumption(
                "leading",
                8,
                "kept before a packet for headers, in bytes",
                "4 of HCI and 4 of L2CAP, where the capture's sizes are those of L2CAP's payload",
            ),
        ),
        _NIMBLE.size,
    ),
)
NETX = System(
    "NetX Duo",
    Form.DEFINE,
    PacketSettings(
        (
            Assumption(
                "nx_packet", 60, "sizeof(NX_PACKET) in bytes", "compiled for 32 bits, with IPv6"
            ),
            Assumption("alignment", 4, "NX_PACKET_ALIGNMENT", "its default, sizeof(ULONG)"),
            Assumption(
                "physical_header", 16, "NX_PHYSICAL_HEADER, ahead of IP, in bytes", "its default"
            ),
        ),
        _NETX.size,
    ),
)
