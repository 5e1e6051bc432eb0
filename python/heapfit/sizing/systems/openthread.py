# SPDX-License-Identifier: Apache-2.0
"""OpenThread: OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS and OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE.

Names and standards: src/core/config/misc.h. A message is a chain of buffers: each has a pointer to
the next, the first the message's metadata too (src/core/common/message.hpp).
"""

from __future__ import annotations

from heapfit.errors import HeapfitError
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
    Assumption(
        "metadata",
        48,
        "sizeof(Buffer::Metadata) in bytes",
        "inferred from message.hpp for 32-bit pointers, an FTD and at most 32 children",
    ),
    Assumption("pointer", 4, "sizeof(otMessageBuffer) in bytes", "message.hpp, 32-bit pointers"),
    Assumption(
        "reserved", 0, "kept before a message for headers, in bytes", "depends on the sender"
    ),
)
_NAMES = ("OPENTHREAD_CONFIG_MESSAGE_BUFFER_SIZE", "OPENTHREAD_CONFIG_NUM_MESSAGE_BUFFERS")
_TRIED = (80, 96, 112, 128, 160, 192, 256)


def _size_from_packets(captures: Captures, known: Values) -> SizedSettings:
    """OpenThread's settings from IPv6 messages as the node holds them."""
    sizes = [size for size in _TRIED if size > known["metadata"] + known["pointer"] + 8]
    if not sizes:
        raise HeapfitError(
            f"assume: metadata={known['metadata']} leaves no room in a buffer of {_TRIED[-1]} bytes"
        )
    pools = captures.size_buffers([_layout(size, known) for size in sizes])
    standards = ("32 * sizeof(void *), so 128", "44")
    best, settings, choices = size_cheapest(pools, _NAMES, standards, "messages")
    remarks = (
        "MLE, CoAP and other control messages that the capture does not hold come on top",
        "without use where OPENTHREAD_CONFIG_MESSAGE_USE_HEAP_ENABLE is 1",
    )
    return SizedSettings(settings, best.memory, choices, remarks)


def _layout(size: int, known: Values) -> Layout:
    later = size - known["pointer"]
    return Layout(size, later - known["metadata"], later, known["reserved"], size)


OPENTHREAD = System(
    "OpenThread", Form.DEFINE, PacketSettings(_ASSUMPTIONS, _size_from_packets), heap=None
)
