# SPDX-License-Identifier: Apache-2.0
"""Frames as recorder/target/FRAMES.md says: the recorder once more, as a slow model."""

import binascii
import struct
from dataclasses import dataclass, field

BASE = 0x20000000
ALIGNMENT_LOG2 = 3
FRAME_SIZE = 64
ALLOC, FREE, TIME, OTHER = range(4)
RESIZE, ZEROED, ALIGNED, REFUSED, SITE, NEEDS, SERVED = range(7)


def varint(value):
    """Seven bits a byte, the lowest first."""
    *rest, last = [value >> shift & 0x7F for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([*(byte | 0x80 for byte in rest), last])


def frame(number, tick, body, is_header=False):
    covered = struct.pack("<BHI", 7 + len(body) | is_header << 7, number & 0xFFFF, tick) + body
    return b"\xf5\xfd" + covered + struct.pack("<H", binascii.crc_hqx(covered, 0xFFFF))


def header(number=0, events=None, tick=0, **changed):
    about = {"version": 1, "pointer_bits": 32, "alignment": ALIGNMENT_LOG2, "tick_rate": 1000}
    about |= {"base": BASE, "heap_size": 32768, "live": 0, "flags": 0}
    values = [*(about | changed).values(), number if events is None else events]
    return frame(number, tick, b"".join(map(varint, values)), is_header=True)


@dataclass
class Recorder:
    """The frames of the events it is told, a header before each 32nd."""

    base: int = BASE
    events: int = 0
    frames: list = field(default_factory=list)
    body: bytes = b""
    first: int = 0  # events before this frame
    began: int = 0  # tick of this frame
    tick: int = 0
    address: int = BASE

    def step(self, kind, address):
        distance = address - self.address
        self.address = address
        return varint(abs(distance) >> ALIGNMENT_LOG2 << 3 | (distance < 0) << 2 | kind)

    def request(self, address, size):
        return (bytes([REFUSED << 2 | OTHER]) if address is None else self.step(ALLOC, address)) + (
            varint(size)
        )

    def add(self, tick, *parts):
        """One event, of parts that are made once its frame is known."""
        if len(self.body) > FRAME_SIZE - 11 - 22:
            self.close(tick)
        if tick != self.tick:
            self.body += varint((tick - self.tick) % (1 << 32) << 2 | TIME)
        self.tick = tick
        self.body += b"".join(part() for part in parts)
        self.events += 1

    def close(self, tick):
        self.frames.append(frame(self.first, self.began, self.body))
        self.first, self.began, self.tick = self.events, tick, tick
        self.body, self.address = b"", self.base

    def alloc(self, address, size, tick=0, what=b""):
        self.add(tick, lambda: what, lambda: self.request(address, size))

    def free(self, address, tick=0):
        self.add(tick, lambda: self.step(FREE, address))

    def resize(self, old, address, size, tick=0):
        what = bytes([RESIZE << 2 | OTHER])
        self.add(tick, lambda: what + self.step(0, old), lambda: self.request(address, size))

    def finished(self):
        """All frames, with the last one closed."""
        if self.body:
            self.close(self.tick)
        return self.frames

    def log(self):
        return header() + b"".join(self.finished())
