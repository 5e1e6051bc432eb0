# SPDX-License-Identifier: Apache-2.0
"""Measures how small each of two heaps may be until one of the same runs fails, on the device.

    size  | 40,000 | 31,000 | 35,500 | 33,250 ...     at most MOST_SIZES of each heap
    runs  |  10/10 |   9/10 |  10/10 |   8/10

A replay tells what a recorded run needs; how a heap's own time moves the requests, only runs tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from heapfit.comparison.failure_share import RISK, bound_failures
from heapfit.comparison.incumbents.replacement import LEAST_SAVED
from heapfit.plan.quantities import format_share

MOST_SIZES = 8  # tried of each heap, the one where both are counted included
_UNIT = 8  # bytes: regions are multiples of it


@dataclass(frozen=True, slots=True)
class ResizableHeap:
    """A heap in the firmware, which can be built in any size."""

    build: Callable[[int], None]  # with so many bytes
    passes: Callable[[int], bool]  # does the run of this number end well?
    fails: int  # bytes in which no run is served
    start: int  # bytes in which they may be

    def find_size(self, numbers: list[int]) -> int | None:
        """The smallest size tried that serves all runs; what failed last is tried first."""

        def serves(size: int) -> bool:
            self.build(size)
            failed = next((number for number in numbers if not self.passes(number)), None)
            numbers.sort(key=lambda number: number != failed)
            return failed is None

        return find_surviving_size(serves, self.fails, self.start)

    def count_served(self, numbers: list[int], size: int) -> int:
        """How many of the runs this size serves."""
        self.build(size)
        return sum(self.passes(number) for number in numbers)


@dataclass(frozen=True, slots=True)
class Survival:
    """The smallest sizes tried at which both heaps served every one of the same runs, in bytes."""

    now: int | None  # of the incumbent heap; None: no size tried served
    fitted: int | None
    runs: int
    distinct: int  # runs that count: as many as differed among the recorded ones
    served: tuple[int, int] | None = None  # by either heap at `equal_bytes`

    @property
    def equal_bytes(self) -> int | None:
        """The size at which the runs that both heaps serve were counted: the smaller of both."""
        return min((size for size in (self.now, self.fitted) if size is not None), default=None)

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
        """How far apart the sizes are, and their interval, as sentences of the heaps' names.

        >>> Survival(20_480, 20_416, 10, 10, (7, 10)).describe("heap_4", "ours")
        'Over the same 10 fresh runs ours needs 0.3 % less than heap_4 (at most 30.8 % of all runs \
fail at these sizes, with 95 % confidence). In the smaller of both heap_4 serves 7, ours 10.'
        """
        if self.now is None or self.fitted is None:
            none = " and ".join(
                name for name, size in ((now, self.now), (fitted, self.fitted)) if not size
            )
            return f"Over the same {self.runs} fresh runs no size tried serves all of {none}."
        share = 100 * (self.fitted / self.now - 1)
        found = (
            f"Over the same {self.runs} fresh runs {fitted} needs {abs(share):.1f} % "
            f"{'more' if share > 0 else 'less'} than {now} (at most "
            f"{format_share(self.most_refused)} of all runs fail at these sizes, with 95 % "
            "confidence)."
        )
        by_now, by_fitted = self.served or (0, 0)
        return f"{found} In the smaller of both {now} serves {by_now}, {fitted} {by_fitted}."


def compare_survival(
    now: ResizableHeap, fitted: ResizableHeap, numbers: list[int], distinct: int
) -> Survival:
    """Bisects the size in which each heap serves these runs, then counts both in the smaller."""
    found = Survival(now.find_size(numbers), fitted.find_size(numbers), len(numbers), distinct)
    size = found.equal_bytes
    if size is None:
        return found
    counts = (
        len(numbers) if known == size else heap.count_served(numbers, size)
        for heap, known in ((now, found.now), (fitted, found.fitted))
    )
    by_now, by_fitted = counts
    return replace(found, served=(by_now, by_fitted))


def find_surviving_size(serves: Callable[[int], bool], fails: int, start: int) -> int | None:
    """The smallest size that serves of less than MOST_SIZES tried, by bisection from `start` down.

    At `fails` bytes no run is served. While `start` does not serve either, a quarter is added.

    >>> find_surviving_size(lambda size: size >= 20_000, 16_000, 18_000)
    20104
    >>> find_surviving_size(lambda size: False, 0, 8)
    """
    low, high, served = fails // _UNIT, -(-start // _UNIT), None
    for _ in range(MOST_SIZES - 1):
        size = high if served is None else (low + high) // 2
        if size in (low, served):
            break
        if serves(size * _UNIT):
            high = served = size
        else:
            low = size
            high = high if served is not None else high + max(high // 4, 1)
    return None if served is None else served * _UNIT
