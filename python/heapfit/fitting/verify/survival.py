# SPDX-License-Identifier: Apache-2.0
"""Measures how small each of two heaps may be until one of the same runs fails, on the device.

    size  | 40,000 | 31,000 | 35,500 | 33,250 ...     at most MOST_SIZES of each heap
    runs  |  10/10 |   9/10 |  10/10 |   8/10

A replay tells what a recorded run needs; how a heap's own time moves the requests, only runs tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heapfit.comparison.failure_share import RISK, bound_failures
from heapfit.comparison.incumbents.replacement import LEAST_SAVED
from heapfit.plan.quantities import format_share

MOST_SIZES = 8  # tried of each heap
_UNIT = 8  # bytes: regions are multiples of it


@dataclass(frozen=True, slots=True)
class Survival:
    """The smallest sizes tried at which both heaps served every one of the same runs, in bytes."""

    now: int | None  # of the incumbent heap; None: no size tried served
    fitted: int | None
    runs: int
    distinct: int  # runs that count: as many as differed among the recorded ones

    @property
    def is_less(self) -> bool:
        """True if the fitted heap survives in so much less that a replacement pays."""
        if self.fitted is None or self.now is None:
            return self.fitted is not None
        return 100 * (self.now - self.fitted) > LEAST_SAVED * self.now

    @property
    def most_refused(self) -> float:
        """The share of all runs that may be refused at either size, with 95 % certainty of both."""
        return bound_failures(0, self.distinct, RISK / 2)

    def describe(self, now: str, fitted: str) -> str:
        """The sizes and their interval as a sentence; the names are those of the heaps.

        >>> Survival(20_480, 20_416, 10, 10).describe("heap_4", "ours")
        'Over the same 10 fresh runs heap_4 survives in 20,480 B and ours in 20,416 B (at most \
30.8 % of all runs fail there, with 95 % confidence).'
        """
        sizes = [
            f"{name} survives in {'no size tried' if size is None else f'{size:,} B'}"
            for name, size in ((now, self.now), (fitted, self.fitted))
        ]
        both = " and ".join(sizes).replace(f"and {fitted} survives in", f"and {fitted} in")
        return (
            f"Over the same {self.runs} fresh runs {both} (at most "
            f"{format_share(self.most_refused)} of all runs fail there, with 95 % confidence)."
        )


def find_surviving_size(serves: Callable[[int], bool], fails: int, start: int) -> int | None:
    """The smallest size that serves of at most MOST_SIZES tried, by bisection from `start` down.

    At `fails` bytes no run is served. While `start` does not serve either, a quarter is added.

    >>> find_surviving_size(lambda size: size >= 20_000, 16_000, 18_000)
    20032
    >>> find_surviving_size(lambda size: False, 0, 8)
    """
    low, high, served = fails // _UNIT, -(-start // _UNIT), None
    for _ in range(MOST_SIZES):
        size = high if served is None else (low + high) // 2
        if size in (low, served):
            break
        if serves(size * _UNIT):
            high = served = size
        else:
            low = size
            high = high if served is not None else high + max(high // 4, 1)
    return None if served is None else served * _UNIT
