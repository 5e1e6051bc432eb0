# SPDX-License-Identifier: Apache-2.0
"""Zephyr's Bluetooth host: BT_BUF_ACL_RX_SIZE and BT_BUF_ACL_RX_COUNT_EXTRA, from L2CAP's packets.

Names and standards: Zephyr 4.1.99, subsys/bluetooth/common/Kconfig, include/zephyr/bluetooth/buf.h.
The fragments of a packet are joined in its first buffer, which must hold all of it
(subsys/bluetooth/host/conn.c).
"""

from __future__ import annotations

from heapfit.sizing.settings import Assumption, Form, Setting
from heapfit.sizing.systems.system import (
    Captures,
    PacketSettings,
    SizedSettings,
    System,
    Values,
)

_ASSUMPTIONS = (
    Assumption("connections", 1, "BT_MAX_CONN", "its Kconfig default"),
    Assumption(
        "l2cap_header", 4, "before each packet, in bytes", "the Bluetooth core's basic form"
    ),
    Assumption(
        "least_size", 69, "the least BT_BUF_ACL_RX_SIZE", "its range with BT_SMP; 27 without"
    ),
    Assumption(
        "net_buf",
        32,
        "sizeof(struct net_buf), its user data and the header of HCI, in bytes",
        "inferred from net_buf.h and buf.h, 32-bit pointers",
    ),
)


def _size_from_packets(captures: Captures, known: Values) -> SizedSettings:
    largest = max(
        int(batch["size"].max(initial=0))
        for trace in captures.traces
        for batch in trace.batches(("size",))
    )
    size = max(largest + known["l2cap_header"], known["least_size"])
    found = captures.size_packets()
    extra = max(found.count - 1, known["connections"])
    settings = (
        Setting(
            "BT_BUF_ACL_RX_SIZE", size, "69 with BT_SMP", None, "Holds the largest packet whole."
        ),
        Setting(
            "BT_BUF_ACL_RX_COUNT_EXTRA",
            extra,
            "BT_MAX_CONN",
            found,
            "Packets at once, without the one buffer that there is anyhow.",
        ),
    )
    memory = (extra + 1) * (known["net_buf"] + -(-size // 4) * 4)
    remarks = (
        "in one chip with the controller its buffers are the same",
        "buffers of events (BT_BUF_EVT_RX_COUNT) and those of sent packets come on top",
    )
    return SizedSettings(settings, memory, (), remarks)


ZEPHYR_BLUETOOTH = System(
    "Zephyr's Bluetooth host",
    Form.KCONFIG,
    PacketSettings(_ASSUMPTIONS, _size_from_packets),
    heap=None,
)
