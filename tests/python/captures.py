# SPDX-License-Identifier: Apache-2.0
"""Captures made by hand: packets, link headers and the records of pcap and pcapng."""

import struct
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

import numpy as np

from heapfit import _engine

MACS = bytes(range(12))
ETHERNET, RAW = 1, 101


def ipv4(size: int, told: int | None = None) -> bytes:
    """A packet of `size` bytes whose header tells `told` (the same unless said)."""
    header = struct.pack(">BBH", 0x45, 0, size if told is None else told) + bytes(16)
    return (header + bytes(size))[:size]


def ipv6(size: int, told_payload: int | None = None) -> bytes:
    """The same with a header of 40 bytes that tells the payload's length."""
    payload = size - 40 if told_payload is None else told_payload
    return (struct.pack(">IHBB", 6 << 28, payload, 6, 64) + bytes(size))[:size]


def between(source: str, destination: str, size: int = 100) -> bytes:
    """A frame from an address to another, of MACs 02:00:...:n by the last byte of each."""
    ends = [ip_address(one).packed for one in (source, destination)]
    addresses, is_v4 = b"".join(ends), len(ends[0]) == 4
    packet = ipv4(size) if is_v4 else ipv6(size)
    start = 12 if is_v4 else 8
    packet = packet[:start] + addresses + packet[start + len(addresses) :]
    to, sender = (b"\x02\0\0\0\0" + one[-1:] for one in reversed(ends))
    to = b"\x03" + to[1:] if ip_address(destination).is_multicast else to  # of many
    return to + sender + struct.pack(">H", 0x0800 if is_v4 else 0x86DD) + packet


def ethernet(packet: bytes, ethertype: int = 0x0800, tags: Sequence[int] = ()) -> bytes:
    """A frame, with a VLAN tag of each EtherType of `tags`."""
    types = [*tags, ethertype]
    return MACS + b"\0\x07".join(struct.pack(">H", kind) for kind in types) + packet


def snap(packet: bytes, ethertype: int = 0x0800) -> bytes:
    """LLC and SNAP."""
    return b"\xaa\xaa\x03\0\0\0" + struct.pack(">H", ethertype) + packet


def wlan(payload: bytes, control: int = 0x08, flags: int = 0, extra: int = 0) -> bytes:
    """An 802.11 frame with `extra` bytes behind the plain header of 24."""
    return bytes([control, flags]) + bytes(22 + extra) + payload


def radiotap(frame: bytes, fields: bytes = b"", present: bytes = bytes(4)) -> bytes:
    """Radiotap before an 802.11 frame."""
    return struct.pack("<BBH", 0, 0, 4 + len(present) + len(fields)) + present + fields + frame


def pcap(
    frames: Iterable[bytes | tuple[float, bytes, int]],
    link_type: int = ETHERNET,
    order: str = "<",
    is_nano: bool = False,
    major: int = 2,
) -> bytes:
    """A capture of frames one second apart, or of (seconds, captured bytes, original length)."""
    magic = 0xA1B23C4D if is_nano else 0xA1B2C3D4
    content = struct.pack(order + "IHHiIII", magic, major, 4, 0, 0, 65535, link_type)
    for index, frame in enumerate(frames):
        seconds, data, original = (
            (float(index), frame, len(frame)) if isinstance(frame, bytes) else frame
        )
        part = round(seconds % 1 * (1e9 if is_nano else 1e6))
        content += struct.pack(order + "IIII", int(seconds), part, len(data), original) + data
    return content


def patched_pcap(frames: Iterable[bytes], order: str = "<") -> bytes:
    """A capture as patched Linux systems wrote it, with more in each record."""
    content = struct.pack(order + "IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 65535, ETHERNET)
    for second, frame in enumerate(frames):
        content += struct.pack(order + "IIII", second, 0, len(frame), len(frame)) + bytes(8) + frame
    return content


def snoop(frames: Iterable[bytes], link_type: int = 4) -> bytes:
    """A capture by Solaris' snoop."""
    content = b"snoop\0\0\0" + struct.pack(">II", 2, link_type)
    for second, frame in enumerate(frames):
        data = frame + bytes(-len(frame) % 4)
        lengths = (len(frame), len(frame), len(data) + 24)
        content += struct.pack(">6I", *lengths, 0, second, 0) + data
    return content


def erf(frames: Iterable[bytes], kind: int = 2, extensions: int = 0) -> bytes:
    """Records of Endace's cards, half a second apart."""
    content = b""
    for index, frame in enumerate(frames):
        more = (bytes([0x80]) + bytes(7)) * (extensions - 1) + bytes(8) * (extensions > 0)
        body = more + bytes(2 * (kind == 2)) + frame
        time = (1_000_000_000 << 32) + (index << 31)
        flags = kind | 0x80 * (extensions > 0)
        content += struct.pack("<Q", time)
        content += struct.pack(">BBHHH", flags, 4, 16 + len(body), 0, len(frame)) + body
    return content


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """A pcapng block."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def section(order: str = "<", major: int = 1) -> bytes:
    """A section header."""
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, major, 0, -1), order)


def option(code: int, value: bytes, order: str = "<") -> bytes:
    """One option of a block."""
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def interface(link_type: int = ETHERNET, order: str = "<", options: bytes = b"") -> bytes:
    """An interface description."""
    return block(1, struct.pack(order + "HHI", link_type, 0, 0) + options, order)


def enhanced(
    ticks: int, frame: bytes, order: str = "<", index: int = 0, original: int | None = None
) -> bytes:
    """An enhanced packet block."""
    ticks %= 1 << 64
    length = len(frame) if original is None else original
    fields = (index, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), length)
    return block(6, struct.pack(order + "5I", *fields) + frame, order)


def obsolete(ticks: int, frame: bytes, order: str = "<") -> bytes:
    """A packet block as pcapng began with."""
    fields = (0, 3, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
    return block(2, struct.pack(order + "HH4I", *fields) + frame, order)


def simple(frame: bytes, order: str = "<") -> bytes:
    """A simple packet block."""
    return block(3, struct.pack(order + "I", len(frame)) + frame, order)


class Reading:
    """What a reader makes of a whole file, fed in chunks."""

    def __init__(
        self,
        content: bytes,
        chunk: int = 1 << 20,
        is_table: bool = False,
        whole_frames: bool = False,
    ) -> None:
        reader = _engine.PacketTableReader() if is_table else _engine.CaptureReader(whole_frames)
        starts = range(0, len(content), chunk)
        parts = [reader.feed(content[start : start + chunk]) for start in starts]
        reader.finish()
        self.times = np.concatenate([part[0] for part in parts]).tolist()
        self.sizes = np.concatenate([part[1] for part in parts]).tolist()
        self.notes = reader.notes
        self.damage = reader.damage
        self.records = reader.records
