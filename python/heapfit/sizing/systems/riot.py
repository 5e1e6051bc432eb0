# SPDX-License-Identifier: Apache-2.0
"""RIOT: CONFIG_GNRC_PKTBUF_SIZE, from the packets that GNRC holds.

A packet is a list of snips, one for each header that is told apart and one for the rest; snips and
data lie in whole cells of one array, each where it first fits (RIOT 3afa47d8,
sys/net/gnrc/pktbuf_static/gnrc_pktbuf_static.c; sys/include/net/gnrc/pkt.h).
"""

from __future__ import annotations

from heapfit.comparison.trial import replay_trace
from heapfit.plan.plan import Plan
from heapfit.sizing.demand import Integers
from heapfit.sizing.settings import Assumption, Form, Setting
from heapfit.sizing.systems.system import (
    Captures,
    PacketSettings,
    SizedSettings,
    System,
    Values,
)

_CELL = 8  # bytes: sizeof(_unused_t) of 32-bit pointers
_LARGEST = 1 << 31  # bytes of a region to replay in
_FIRST_FIT = Plan("first_fit", {"header_size": 4})


def _cells(sizes: Integers) -> Integers:
    return -(-sizes // _CELL)


def _size_from_packets(captures: Captures, known: Values) -> SizedSettings:
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
        _size_from_packets,
    ),
    heap=None,
)
