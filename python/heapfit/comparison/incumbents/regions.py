# SPDX-License-Identifier: Apache-2.0
"""The region of heap_5 that is to be enlarged where those that it has are too small.

typed    | region 1 | region 2 | region 3 |     serves not
tried    | region 1 + least | region 2 | region 3 |   | region 1 | region 2 + least | ...
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from heapfit import _engine
from heapfit.comparison.incumbents.requests import Requests, adapt_requests
from heapfit.comparison.incumbents.system_heap import SystemHeap

_UNIT = _engine.REGION_UNIT
_ABOVE = 16  # sizes above the least one that must serve, too


def choose_region(
    heap: SystemHeap, recordings: Sequence[Requests], bases: Sequence[int], needed: int | None
) -> tuple[SystemHeap, int]:
    """heap_5 with that region grown which has to grow least; then the events replayed.

    `needed`: its memory where the last one grows; None: no such region is below 4 GiB.
    """
    total, events = sum(heap.typed), 0
    if needed is None or needed <= total:
        return heap, 0
    least, chosen = needed - total, heap
    for number in range(len(heap.typed) - 1):
        served = _Served(heap, recordings, bases, number)
        more = _find_least(served, least - _UNIT)
        events += served.events
        if more is not None:
            least, chosen = more, served.grow(more)
    return chosen, events


class _Served:
    """True for growths, in bytes, of one region with which all recordings are served."""

    def __init__(
        self, heap: SystemHeap, recordings: Sequence[Requests], bases: Sequence[int], number: int
    ) -> None:
        self._heap, self._number = heap, number
        self._recordings = list(zip(recordings, bases, strict=True))
        self.events = 0

    def grow(self, more: int) -> SystemHeap:
        """The heap with its region so many bytes larger."""
        sizes = list(self._heap.typed[:-1])
        sizes[self._number] += more
        return replace(self._heap, regions=tuple(sizes), grown=self._number)

    def __call__(self, more: int) -> bool:
        heap = self.grow(more)
        region = heap.region(sum(heap.typed) + more)
        for requests, base in self._recordings:
            events = adapt_requests(heap, requests).engine()
            result = _engine.Trial(heap.plan.engine(), events, base).run(region)
            self.events += result.events
            if not result.runs:
                return False
        return True


def _find_least(serves: Callable[[int], bool], most: int) -> int | None:
    """The least multiple of 8, up to `most`, with which and above which tried ones serve."""
    if most < _UNIT or not serves(most):
        return None
    low, high = 0, most // _UNIT
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if serves(middle * _UNIT) else (middle, high)
    top = most // _UNIT
    above = sorted({high + (top - high) * i // _ABOVE for i in range(_ABOVE)}, reverse=True)
    failing = next((one for one in above if not serves(one * _UNIT)), None)
    return (high if failing is None else failing + 1) * _UNIT
