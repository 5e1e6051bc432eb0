# SPDX-License-Identifier: Apache-2.0
"""Stores what a device sends over a serial line in a file."""

from __future__ import annotations

import os
import re
import select
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import RawIOBase
from pathlib import Path

from heapfit.errors import HeapfitError

# Bits a second that this system knows.
RATES = tuple(sorted(int(name[1:]) for name in vars(termios) if re.fullmatch(r"B[1-9]\d*", name)))
_AT_ONCE = 1 << 16  # bytes
_LOOKS_EACH = 0.25  # s, for the end of the time


def listen(device: Path, rate: int, log: Path, seconds: float | None) -> str:
    """Writes what comes over a line to `log`; the result says how that ended.

    It ends after `seconds`, by Ctrl-C, or when the device goes. HeapfitError if there is no line.
    """
    end = float("inf") if seconds is None else time.monotonic() + seconds
    with _open_line(device, rate) as line, log.open("wb", buffering=0) as kept:
        try:
            return _listen(line, kept, end)
        except KeyboardInterrupt:
            return "interrupted"


def _listen(line: int, kept: RawIOBase, end: float) -> str:
    while time.monotonic() < end:
        if not select.select([line], [], [], _LOOKS_EACH)[0]:
            continue
        said = _read(line)
        if not said:
            return "the device was removed"
        kept.write(said)
    return "the time limit was reached"


def _read(line: int) -> bytes:
    """Reads bytes; none where the other end is gone, which ends a pseudo-terminal by an error."""
    try:
        return os.read(line, _AT_ONCE)
    except OSError:
        return b""


@contextmanager
def _open_line(device: Path, rate: int) -> Iterator[int]:
    if rate not in RATES:
        near = min(RATES, key=lambda known: abs(known - rate))
        raise HeapfitError(
            f"{device}:{rate}: {rate} baud is not a rate of this system (nearest: {near})"
        )
    try:
        line = os.open(device, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise HeapfitError(f"{device}: cannot be opened: {error.strerror}") from error
    try:
        _make_raw(device, line, rate)
        yield line
    finally:
        os.close(line)


def _make_raw(device: Path, line: int, rate: int) -> None:
    """Sets eight bits, no parity, and bytes that arrive unchanged."""
    speed = getattr(termios, f"B{rate}")
    try:
        attributes = termios.tcgetattr(line)
        flags = termios.CS8 | termios.CREAD | termios.CLOCAL
        termios.tcsetattr(line, termios.TCSANOW, [0, 0, flags, 0, speed, speed, attributes[6]])
    except termios.error as error:
        raise HeapfitError(f"{device}: is not a serial line ({error.args[-1]})") from error
