# SPDX-License-Identifier: Apache-2.0
"""What a telemetry log says of a heap: its states, in the order of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from heapfit.importers.log_lines import Clock

__all__ = ["Clock", "Field", "HeapState", "Sample", "TelemetryLog"]

LARGEST_VALUE = 2**31 - 1  # bytes; above it a negative number of 32 bits was printed


class Field(StrEnum):
    """What a number in a log is."""

    FREE = "free"  # bytes
    LEAST = "least"  # bytes, the least ever free
    LARGEST = "largest"  # bytes of the largest free block
    FAILED = "failed"  # bytes of a request that failed
    FAILURES = "failures"  # number of requests that failed
    ALLOCATED = "used"  # bytes
    MOST = "most"  # bytes, the most ever allocated
    TOTAL = "total"  # bytes of the heap
    # What only the other figures make one of those above.
    AVAILABLE = "available"  # free bytes, or of lwIP all bytes
    HEAP = "heap"  # free or used bytes
    SHARE = "share"  # per cent that is used


@dataclass(slots=True)
class Sample:
    """The figures of a line or row; those of one moment are gathered in the first of them."""

    values: dict[Field, float] = field(default_factory=dict)  # NaN where no number is printed
    names: dict[Field, str] = field(default_factory=dict)  # the text before a figure
    memory: str = ""  # which memory or pool, as a heading, column or word says
    is_whole: bool = False  # a row of a table: no other line adds to it
    moments: dict[Clock, float] = field(default_factory=dict)
    above: dict[Clock, float] = field(default_factory=dict)  # of the last line that has a time
    line: int = 0
    boot: int = 0  # starts before it
    program: str = ""  # the version that runs, where it is told


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
    program: str = ""  # the version that runs, where it is told

    @property
    def lowest(self) -> int:
        """The least that was free until then, as far as it is known."""
        return self.free if self.least is None else min(self.free, self.least)


@dataclass(frozen=True, slots=True)
class TelemetryLog:
    """The states of one heap that a log shows."""

    form: str  # how it is written
    states: Sequence[HeapState]
    clock: Clock | None  # None: it has none
    invalid: int  # figures that are negative, too large or no numbers
    other_heaps: Sequence[TelemetryLog]  # of which the same log tells, by what it says of them
    region: int | None = None  # bytes of the heap; None: not printed
    damage: str = ""  # where a packed file is cut; what follows is left out
    name: str = ""  # of the heap, as the log has it
    notes: Sequence[str] = ()  # how doubtful figures were read
    unit: str = "B"  # what free counts: buffers of a pool, otherwise
    setting: str = ""  # what sets its size, where that is known
    each: int = 0  # bytes of a buffer of a pool; 0: not known
    # What each task or pool of a table holds of this heap: as free is what it leaves of `region`.
    holders: Sequence[TelemetryLog] = ()

    @property
    def boots(self) -> int:
        """How often the device started in the log."""
        return self.states[-1].boot + 1

    @property
    def least(self) -> int:
        """The least that was ever free."""
        return min(one.lowest for one in self.states)

    @property
    def failures(self) -> int:
        """The requests that failed, as they were counted last."""
        return max(one.failures or 0 for one in self.states)

    @property
    def is_dry(self) -> bool:
        """True of a pool of a known stack that had nothing left, or refused requests."""
        return bool(self.setting) and (self.least == 0 or self.failures > 0)

    @property
    def share(self) -> float:
        """The least that was ever free, of its size or of the most that was free."""
        return self.least / (self.region or max(one.free for one in self.states) or 1)
