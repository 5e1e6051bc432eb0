# SPDX-License-Identifier: Apache-2.0
"""Replays finite pools that fall back to larger ones, by the algorithm of class_pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapfit import _engine
from heapfit.sizing.demand import BLOCKS
from heapfit.trace.operations import Integers

ALIGNMENT = 4  # the least there is: requests above it are counted as any other
Shape = tuple[int, bool]  # a pool's size in bytes, and whether it is for requests of just that


@dataclass(frozen=True, slots=True)
class PoolRefusals:
    """Rows: stretches of a trace, or draws. Columns: the pool that is a request's first choice."""

    requests: Integers
    refused: Integers

    def rows(self, chosen: slice) -> PoolRefusals:
        """The refusals of the rows `chosen`."""
        return PoolRefusals(self.requests[chosen], self.refused[chosen])

    def sum(self, axis: int) -> PoolRefusals:
        """The refusals of all rows in one row (axis 0), or of all pools in one column (1)."""
        return PoolRefusals(
            self.requests.sum(axis, keepdims=True), self.refused.sum(axis, keepdims=True)
        )

    def is_within(self, share: float) -> bool:
        """True if of each pool's own requests at most this share was refused."""
        requests, refused = self.requests.sum(axis=0), self.refused.sum(axis=0)
        return bool((refused <= share * requests).all())

    def share(self, pool: int) -> float:
        """Share of all requests of a pool that was refused."""
        requests = int(self.requests[:, pool].sum())
        return int(self.refused[:, pool].sum()) / requests if requests else 0.0

    def shares(self, pool: int) -> NDArray[np.float64]:
        """Share of a pool's requests that was refused, of each row that has requests."""
        requests, refused = self.requests[:, pool], self.refused[:, pool]
        return np.asarray(refused[requests > 0] / requests[requests > 0], dtype=np.float64)


def stack_refusals(parts: Sequence[PoolRefusals]) -> PoolRefusals:
    """Stacks the rows of several refusals."""
    return PoolRefusals(
        np.concatenate([part.requests for part in parts]),
        np.concatenate([part.refused for part in parts]),
    )


class PoolReplay:
    """A trace prepared for replays on pools of given sizes with any counts.

    8 bytes an event stay in memory. A pass costs some 3 ns an event, a twentieth of what the
    allocator itself takes, whose refusals are the same (a test compares them).
    """

    def __init__(self, events: _engine.EventArray, shapes: Sequence[Shape]) -> None:
        self._replay = _engine.PoolReplay(events, list(shapes), ALIGNMENT, BLOCKS)
        self._pools = len(shapes)
        self.events = len(events)

    def run(self, counts: Integers, *, falls_back: bool = True) -> PoolRefusals:
        """The refusals of pools with these counts, in BLOCKS stretches of equal events."""
        found = self._replay.run(counts.tolist(), falls_back)
        requests, refused = (
            values.astype(np.int64).reshape(BLOCKS, self._pools)
            for values in (found.requests, found.refused)
        )
        return PoolRefusals(requests, refused)
