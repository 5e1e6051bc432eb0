# SPDX-License-Identifier: Apache-2.0
"""How long a heap is to last, as a user gives it, and why nothing may be said of that length."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from heapfit.errors import HeapfitError

MOST_TIMES = 100.0  # as long as the recording: as far as the law of a load was measured
_SECONDS: Final = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}
_HORIZON: Final = re.compile(r"(\d{1,15}(?:\.\d{1,15})?)\s*(x|events|s|min|h|d|w|y)")


@dataclass(frozen=True, slots=True)
class Horizon:
    """How long a heap is to last."""

    text: str  # as it was given
    amount: float
    unit: str  # x: times the recording (of a job: runs); events; or a unit of time

    def times(self, events: int, microseconds: float) -> float | UnknownRuns:
        """How many times as long as a recording of so many events, each so long, it is."""
        if self.unit == "x":
            return self.amount
        if self.unit == "events":
            return self.amount / events
        if microseconds <= 0:
            return UnknownRuns(
                "the recording has no clock", "record with times, or give --horizon 10x"
            )
        return self.amount * _SECONDS[self.unit] * 1e6 / (events * microseconds)


def parse_horizon(text: str) -> Horizon:
    """A horizon such as 30d, 12h, 10x (times the recording) or 100000 events.

    >>> parse_horizon("30d").times(1_000_000, 2_592_000.0)
    1.0
    """
    found = _HORIZON.fullmatch(text.strip().replace(",", ""))
    if found is None or float(found[1]) <= 0:
        raise HeapfitError(
            f"--horizon {text}: is no length of time (30d, 12h, 5min), 10x or 100000 events"
        )
    return Horizon(text.strip(), float(found[1]), found[2])


@dataclass(frozen=True, slots=True)
class UnknownRuns:
    """Why nothing is said about longer runs, and what to record."""

    reason: str
    advice: str

    def sentence(self) -> str:
        """Why longer runs are unknown, and what to do."""
        return (
            f"Longer runs: unknown, as {self.reason}. {self.advice[:1].upper()}{self.advice[1:]}."
        )
