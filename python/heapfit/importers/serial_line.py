# SPDX-License-Identifier: Apache-2.0
"""Stores what a device sends over a serial line in a file.

A line is what pyserial takes: /dev/ttyUSB0, COM3, rfc2217://host:port of a terminal server.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from heapfit.errors import HeapfitError, first_line

_LOOKS_EACH = 0.25  # s, for the end of the time


def listen(line: str, rate: int, log: Path, seconds: float | None) -> str:
    """Writes what comes over a line to `log`; the result says how that ended.

    It ends after `seconds`, by Ctrl-C, or when the device goes. HeapfitError if there is no line.
    """
    end = float("inf") if seconds is None else time.monotonic() + seconds
    with _open_line(line, rate) as port, log.open("wb", buffering=0) as kept:
        try:
            while time.monotonic() < end and (said := _read(port)) is not None:
                kept.write(said)
        except KeyboardInterrupt:
            return "interrupted"
        return "the device was removed" if time.monotonic() < end else "the time limit was reached"


def _read(port: Any) -> bytes | None:  # noqa: ANN401 (pyserial has no types)
    """What has come, which may be nothing for a while; None where the other end is gone."""
    try:
        said: bytes = port.read(port.in_waiting or 1)
    except OSError:
        return None
    return said


def _open_line(line: str, rate: int) -> Any:  # noqa: ANN401 (likewise)
    # Nothing but a recording over a line waits for it to be loaded.
    import serial.tools.list_ports

    try:
        return serial.serial_for_url(line, rate, timeout=_LOOKS_EACH)
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number else first_line(error)
        known = ", ".join(port.device for port in serial.tools.list_ports.comports())
        raise HeapfitError(
            f"{line}: is no serial line that opens at {rate:,} baud: {reason} "
            f"(lines of this machine: {known or 'none'})"
        ) from error
