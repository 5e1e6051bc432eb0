# SPDX-License-Identifier: Apache-2.0
"""What a telemetry log says of a heap: its states, in the order of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

LARGEST_VALUE = 2**31 - 1  # bytes; above it a negative number of 32 bits was printed


class Clock(StrEnum):
    """What a log's time counts from."""

    DATE = "date"  # 1970
    DAY = "time of day"  # midnight
    UPTIME = "uptime"  # the device's start
    CALLS = "calls"  # the heap's making, and each call of it is a second


class Moment(NamedTuple):
    """A time in a log."""

    seconds: float
    clock: Clock


class Field(StrEnum):
    """What a number in a log is."""

    FREE = "free"  # bytes
    LEAST = "least"  # bytes, the least ever free
    LARGEST = "largest"  # bytes of the largest free block
    FAILED = "failed"  # bytes of a request that failed
    FAILURES = "failures"  # number of requests that failed
    ALLOCATED = "allocated"  # bytes
    MOST = "most"  # bytes, the most ever allocated


@dataclass(slots=True)
class Sample:
    """The figures of a line or row; those of one moment are gathered in the first of them."""

    moment: Moment | None = None
    values: dict[Field, float] = field(default_factory=dict)  # NaN where no number is printed
    heap: str = ""  # the text before the free bytes, by which heaps are told apart
    is_whole: bool = False  # a row of a table: no other line adds to it
    is_start: bool = False  # the device starts anew
    line: int = 0
    boot: int = 0  # starts before it, as the program says them


@dataclass(frozen=True, slots=True)
class HeapState:
    """What one moment shows, in bytes; None: not printed."""

    line: int
    boot: int  # starts of the device before it in the log
    seconds: float | None  # by the log's clock
    free: int
    least: int | None
    largest: int | None
    failed: int | None  # of the largest request that failed
    failures: int | None


@dataclass(frozen=True, slots=True)
class TelemetryLog:
    """The states of one heap that a log shows."""

    form: str  # how it is written
    states: Sequence[HeapState]
    clock: Clock | None  # None: it has none
    invalid: int  # figures that are negative, too large or no numbers
    other_heaps: Sequence[str]  # names under which free bytes of others are printed
    other_states: int  # of these
    region: int | None = None  # bytes of the heap; None: not printed
    damage: str = ""  # where a packed file is cut; what follows is left out

    @property
    def boots(self) -> int:
        """How often the device started in the log."""
        return self.states[-1].boot + 1
