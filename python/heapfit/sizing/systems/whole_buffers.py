# SPDX-License-Identifier: Apache-2.0
"""Stacks with a packet whole in a buffer or an array: Bluetooth in Zephyr, TinyUSB, Matter, RIOT.

Zephyr 4.1.99: subsys/bluetooth/common/Kconfig, include/zephyr/bluetooth/buf.h; the fragments of a
packet are joined in its first buffer (subsys/bluetooth/host/conn.c). TinyUSB fd70160a:
src/class/net/ncm.h, src/class/cdc/cdc_device.h, src/common/tusb_fifo.c. Matter:
src/system/SystemConfig.h at ef61c70b, src/lib/core/CHIPConfig.h at 0039730a. Its pools of objects
are sized from a recording of a build with CHIP_SYSTEM_CONFIG_POOL_USE_HEAP 1, where each object is
a block of its class's size.

RIOT's packet is a list of snips, one for each header that is told apart and one for the rest; snips
and data lie in whole cells of one array, each where it first fits (RIOT 3afa47d8,
sys/net/gnrc/pktbuf_static/gnrc_pktbuf_static.c; sys/include/net/gnrc/pkt.h).
"""

from __future__ import annotations

from heapfit.comparison.trial import replay_trace
from heapfit.plan.plan import Plan
from heapfit.sizing.demand import Integers
from heapfit.sizing.settings import Assumption, Form, Setting
from heapfit.sizing.systems.system import (
    SENT,
    Captures,
    ObjectPools,
    PacketSettings,
    SizedSettings,
    System,
    Values,
)

_AT_ONCE = "Packets at once."
_CELL = 8  # bytes: sizeof(_unused_t) of 32-bit pointers
_LARGEST = 1 << 31  # bytes of a region to replay in
_FIRST_FIT = Plan("first_fit", {"header_size": 4})


def _size_bluetooth(captures: Captures, known: Values) -> SizedSettings:
    size = max(captures.largest() + known["l2cap_header"], known["least_size"])
    found = captures.size_packets()
    extra = max(found.count - 1, known["connections"])
    why = "Packets at once, without the one buffer that there is anyhow."
    settings = (
        Setting(
            "BT_BUF_ACL_RX_SIZE", size, "69 with BT_SMP", None, "Holds the largest packet whole."
        ),
        Setting("BT_BUF_ACL_RX_COUNT_EXTRA", extra, "BT_MAX_CONN", found, why),
    )
    memory = (extra + 1) * (known["net_buf"] + -(-size // 4) * 4)
    remarks = (
        "in one chip with the controller its buffers are the same",
        "buffers of events (BT_BUF_EVT_RX_COUNT) and those of sent packets come on top",
    )
    return SizedSettings(settings, memory, (), remarks)


def _size_tinyusb(captures: Captures, known: Values) -> SizedSettings:
    """Sizes a network's blocks for one packet each, and a serial line's buffer for what waits."""
    way, cdc = ("IN", "TX") if known["sent"] else ("OUT", "RX")
    block = 12 + 8 + 2 * 4 + known["link_header"] + captures.largest()  # one of NCM with one packet
    block = max(-(-block // 4) * 4, known["least_block"])
    found, waiting = captures.size_packets(), captures.size_cells(lambda sizes: sizes)
    fifo = max(waiting.count, known["endpoint"])
    settings = (
        Setting(
            f"CFG_TUD_NCM_{way}_NTB_MAX_SIZE", block, "3200", None, "Holds the largest packet."
        ),
        Setting(f"CFG_TUD_NCM_{way}_NTB_N", max(found.count, 1), "1", found, _AT_ONCE),
        Setting(
            f"CFG_TUD_CDC_{cdc}_BUFSIZE",
            min(fifo, 0x8000),
            "64, or 512 at high speed",
            waiting,
            "Bytes of all packets at once, where they are a serial line's.",
        ),
    )
    remarks = (
        "a device has either of the two: the network's blocks or the serial line's buffer",
        "the host may put several packets in a block: each of these holds one, the worst case",
        *(("no buffer holds more than 32,768 B (tu_fifo_config)",) if fifo > 0x8000 else ()),
    )
    return SizedSettings(settings, block * max(found.count, 1), (), remarks)


def _size_matter(captures: Captures, known: Values) -> SizedSettings:
    capacity = max(captures.largest(), known["least_capacity"])
    found = captures.size_packets()
    settings = (
        Setting(
            "CHIP_SYSTEM_CONFIG_PACKETBUFFER_CAPACITY_MAX",
            capacity,
            "1583",
            None,
            "Holds the largest packet whole.",
        ),
        Setting("CHIP_SYSTEM_CONFIG_PACKETBUFFER_POOL_SIZE", found.count, "15", found, _AT_ONCE),
    )
    memory = found.count * (known["pbuf"] + -(-capacity // 4) * 4)
    remarks = (
        "over lwIP its pbufs are used: settings lwip",
        "pools of objects: give a recording, and --assume SIZE=CHIP_CONFIG_MAX_EXCHANGE_CONTEXTS",
    )
    return SizedSettings(settings, memory, (), remarks)


def _cells(sizes: Integers) -> Integers:
    return -(-sizes // _CELL)


def _size_riot(captures: Captures, known: Values) -> SizedSettings:
    own = known["snips"] * -(-known["snip"] // _CELL) + -(-known["netif_header"] // _CELL)
    found = captures.size_cells(lambda sizes: own + _cells(sizes))
    percent = _measure_holes(captures)
    size = -(-found.count * _CELL * (100 + percent) // (100 * _CELL)) * _CELL
    why = f"Cells of 8 bytes of all packets at once, and {percent} % for holes of first fit."
    setting = Setting("CONFIG_GNRC_PKTBUF_SIZE", size, "6144", found, why)
    remarks = (
        "pktbuf_malloc takes its memory from the heap instead",
        "a packet that is sent and received at once is counted once",
    )
    return SizedSettings((setting,), size, (), remarks)


def _measure_holes(captures: Captures) -> int:
    """What first fit needs above the most that is live of these packets, in whole percent."""
    live = captures.peak_cells(lambda sizes: _cells(sizes + 4)) * _CELL
    needed = max(replay_trace(trace, _FIRST_FIT, _LARGEST).footprint for trace in captures.traces)
    return max(0, -(-100 * (needed - live) // max(live, 1)))


ZEPHYR_BLUETOOTH = System(
    "Zephyr's Bluetooth host",
    Form.KCONFIG,
    PacketSettings(
        (
            Assumption("connections", 1, "BT_MAX_CONN", "its Kconfig default"),
            Assumption(
                "l2cap_header", 4, "before each packet, in bytes", "the Bluetooth core's basic form"
            ),
            Assumption(
                "least_size",
                69,
                "the least BT_BUF_ACL_RX_SIZE",
                "its range with BT_SMP; 27 without",
            ),
            Assumption(
                "net_buf",
                32,
                "sizeof(struct net_buf), its user data and the header of HCI, in bytes",
                "inferred from net_buf.h and buf.h, 32-bit pointers",
            ),
        ),
        _size_bluetooth,
    ),
)
TINYUSB = System(
    "TinyUSB",
    Form.DEFINE,
    PacketSettings(
        (
            Assumption("link_header", 14, "of a packet in its block, in bytes", "Ethernet"),
            Assumption("least_block", 2048, "the least block of NCM", "Linux's (ncm.h)"),
            SENT,
            Assumption(
                "endpoint",
                64,
                "bytes of a packet of USB, which the serial line's buffer has to hold",
                "TUD_EPSIZE_BULK_MAX at full speed; 512 at high speed",
            ),
        ),
        _size_tinyusb,
    ),
)
MATTER = System(
    "Matter",
    Form.DEFINE,
    PacketSettings(
        (
            Assumption("pbuf", 16, "sizeof(PacketBuffer) in bytes", "32-bit pointers, aligned"),
            Assumption(
                "least_capacity",
                1280,
                "the least that a buffer holds, in bytes",
                "CHIP_CONFIG_DEFAULT_UDP_MTU_SIZE",
            ),
        ),
        _size_matter,
    ),
    ObjectPools(
        {
            "CHIP_CONFIG_MAX_EXCHANGE_CONTEXTS": "16",
            "CHIP_CONFIG_MAX_UNSOLICITED_MESSAGE_HANDLERS": "8",
            "CHIP_CONFIG_SECURE_SESSION_POOL_SIZE": "CHIP_CONFIG_MAX_FABRICS * 3 + 2",
            "CHIP_IM_MAX_NUM_COMMAND_HANDLER": "4",
            "CHIP_IM_MAX_NUM_READS": "CHIP_CONFIG_MAX_FABRICS",
            "CHIP_IM_MAX_NUM_TIMED_HANDLER": "8",
            "CHIP_IM_MAX_NUM_WRITE_HANDLER": "4",
            "CHIP_SYSTEM_CONFIG_NUM_TIMERS": "32",
        }
    ),
)
RIOT = System(
    "RIOT",
    Form.DEFINE,
    PacketSettings(
        (
            Assumption("snip", 20, "sizeof(gnrc_pktsnip_t) in bytes", "pkt.h, 32-bit pointers"),
            Assumption("snips", 4, "of a packet: interface, IPv6, UDP and the rest", "inferred"),
            Assumption(
                "netif_header",
                24,
                "sizeof(gnrc_netif_hdr_t) and two addresses of 8, in bytes",
                "inferred from net/gnrc/netif/hdr.h",
            ),
        ),
        _size_riot,
    ),
)
