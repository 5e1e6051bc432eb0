# SPDX-License-Identifier: Apache-2.0
"""How many chunks a heap without a free list passes in each call, from where a replay places them.

    | used | used | FREE | used | FREE | used | FREE ...
                    lowest                      fit       passed: 3, all from the lowest free one on

Such a heap, lwIP's mem.c, keeps only the lowest free chunk. A request walks from it over used and
free chunks to the first that fits; one that takes the lowest itself walks on to the next free one.
The plan that stands for it keeps a list, so that its accesses do not show these walks; its blocks
lie at the same places.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.comparison.incumbents.requests import Requests
from heapfit.plan.plan import Plan
from heapfit.trace.operations import ALLOC, FREE, RESIZE, is_allocation

_NOWHERE: Final = 2**32  # above all offsets


class _Chunks:
    """The used and free chunks of a heap, by the offsets of their payload, in order."""

    def __init__(self, first: int, plan: Plan) -> None:
        self.used: list[int] = []
        self.free = [first]
        self._header = plan.scalars["header_size"]
        self._least = plan.scalars["least_split"]
        self._alignment = plan.alignment

    def take(self, start: int, size: int) -> tuple[int, int]:
        """Places a block; the chunks passed to find it, and to find the next free one."""
        place, position = bisect_left(self.free, start), bisect_left(self.used, start)
        passed = place + position - bisect_left(self.used, self.free[0])
        del self.free[place]
        self.used.insert(position, start)
        self.cut(start, size)
        is_first = place == 0 and len(self.free) > 0
        return passed + 1, bisect_left(self.used, self.free[0]) - position if is_first else 0

    def give(self, start: int) -> None:
        """Frees a block and joins it with free neighbours."""
        position = bisect_left(self.used, start)
        del self.used[position]
        self._join(start, position)

    def cut(self, start: int, size: int) -> None:
        """Frees what a block leaves up to the next used one, where that is a chunk."""
        rest = start + -(-(size + self._header) // self._alignment) * self._alignment
        if self._next_used(rest) - rest >= self._least:
            self._join(rest, bisect_right(self.used, start))

    def _next_used(self, start: int) -> int:
        place = bisect_left(self.used, start)
        return self.used[place] if place < len(self.used) else _NOWHERE

    def _join(self, start: int, position: int) -> None:
        """Makes free what begins at `start`, in front of the used chunk at `position`."""
        before = self.used[position - 1] if position else -1
        place = bisect_right(self.free, start)
        if place < len(self.free) and self.free[place] < self._next_used(start):
            del self.free[place]
        if place == 0 or self.free[place - 1] < before:
            self.free.insert(place, start)


def count_walks(
    plan: Plan, requests: Requests, region: int, base: int
) -> Mapping[str, NDArray[Any]]:
    """How many calls pass how many chunks, in the form of _engine.call_costs.

    What passes to the fit stands for loads, what passes to the next free chunk for stores.
    """
    replay = _engine.Replay(plan.engine(), region, base, keep_offsets=True, metered=False)
    replay.feed(requests.engine())
    counts = Counter(_walks(plan, requests, replay.offsets.tolist()))
    rows = np.array([(*walk, number) for walk, number in counts.items()], np.uint64).reshape(-1, 4)
    return dict(zip(("op", "loads", "stores", "calls"), rows.T, strict=True))


def _walks(plan: Plan, requests: Requests, offsets: list[int]) -> Iterator[tuple[int, int, int]]:
    """Operation and chunks passed of each call, up to the first that is not served."""
    chunks, starts, placed = _Chunks(min(offsets, default=0), plan), dict[int, int](), iter(offsets)
    columns = (requests.op, requests.named, requests.size)
    for op, named, size in zip(*(column.tolist() for column in columns), strict=True):
        if op == FREE or (op == RESIZE and size == 0):
            chunks.give(starts.pop(named))
            yield FREE, 0, 0
        elif (start := next(placed, None)) is None:
            return
        elif is_allocation(op):
            starts[named] = start
            yield ALLOC, *chunks.take(start, size)
        else:
            chunks.cut(start, size)
            yield RESIZE, 0, 0
