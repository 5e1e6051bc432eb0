# SPDX-License-Identifier: Apache-2.0
"""What a telemetry log says of a heap: its states, in the order of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from heapfit.forecast.log.clock import Clock, Moment

LARGEST_VALUE = 2**31 - 1  # bytes; above it a negative number of 32 bits was printed


class Field(StrEnum):
    """What a number in a log is."""

    FREE = "free"  # bytes
    LEAST = "least"  # bytes, the least ever free
    LARGEST = "largest"  # bytes of the largest free block
    FAILED = "failed"  # bytes of a request that failed
    FAILURES = "failures"  # number of requests that failed
    ALLOCATED = "allocated"  # bytes
    MOST = "most"  # bytes, the most ever allocated


class Figure(NamedTuple):
    """A number in a log and what it is."""

    field: Field
    value: float  # NaN where what is printed is no number
    name: str  # the text before it, by which heaps are told apart


@dataclass(frozen=True, slots=True)
class Sample:
    """The figures of one line or row."""

    line: int
    moment: Moment | None
    figures: Sequence[Figure]
    is_whole: bool = False  # a row of a table: no other line adds to it
    is_start: bool = False  # the device starts anew


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
