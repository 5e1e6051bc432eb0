# SPDX-License-Identifier: Apache-2.0
"""Chooses the counts of pools: the cheapest that meet a goal, found by replays.

    1  all counts are scaled down together, as far as that does        a ray, by bisection
    2  blocks are left out, pool by pool, the largest first            steps of 1/8 of the largest
    3  blocks of one pool are sold for fewer bytes of another          count, halved where nothing
                                                                       is gained, down to 1

Refusals do not fall with every block that is added (it may let in a request that takes a larger
block from another), so this is a local search, not a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from heapfit.progress import Progress, ignore_progress
from heapfit.sizing.demand import Integers
from heapfit.sizing.pool_replay import PoolReplay, Refusals
from heapfit.sizing.separate_pools import SeparatePools

_SEARCHED = 1_500_000_000  # events replayed in search of counts: some seconds
_FEWEST_TRIES, _MOST_TRIES = 200, 20_000
_SCALES = 1024  # a ray has so many points
_FIRST_STEP = 8  # of the largest count: one part in so many


@dataclass(frozen=True, slots=True)
class Goal:
    """The share of requests that may find their pool empty."""

    refused: float  # share of the requests that each pool is the first choice of

    def is_met(self, found: Refusals) -> bool:
        """True if no more than the goal's share was refused."""
        requests, refused = found.requests.sum(axis=0), found.refused.sum(axis=0)
        return bool((refused <= self.refused * requests).all())


@dataclass(frozen=True, slots=True)
class CountBounds:
    """The bounds of the search. Index of all: the pool."""

    sizes: Integers  # bytes of a block
    least: Integers  # counts that are not gone below
    start: Integers  # at or above `least`
    most: Integers  # counts that surely do, where `start` does not


def choose_counts(
    replay: PoolReplay,
    alone: SeparatePools,
    goal: Goal,
    progress: Progress = ignore_progress,
    stretches: slice = slice(None),
) -> Integers:
    """Chooses counts that meet the goal in these stretches of the trace that `alone` belongs to.

    A pool that runs out too rarely for the trace to show it keeps all it ever needed, and what an
    extrapolation adds to that is added at the end, so that no other pool lives on it.
    """
    peaks = np.array([pool.demand.peak for pool in alone.pools])
    counts = np.array([pool.run_out.count for pool in alone.pools])
    is_beyond = np.array([pool.run_out.is_beyond for pool in alone.pools])
    room = CountBounds(
        sizes=np.array([pool.size for pool in alone.pools]),
        least=np.where(is_beyond, peaks, 0),
        start=np.minimum(counts, peaks),
        most=peaks,
    )
    most_tries = min(max(_FEWEST_TRIES, _SEARCHED // replay.events), _MOST_TRIES)
    tries = count()

    def does(tried: Integers) -> bool:
        progress("counts", next(tries) / most_tries)
        return goal.is_met(replay.run(tried).rows(stretches))

    chosen = least_counts(room, does, most_tries)
    progress("counts", 1.0)
    return np.asarray(chosen + np.maximum(counts - peaks, 0), dtype=np.int64)


def least_counts(room: CountBounds, does: Callable[[Integers], bool], most_tries: int) -> Integers:
    """The counts of fewest bytes that pass `does`, found in at most `most_tries` tries."""
    tries = _Tries(does, most_tries)
    counts = _scale_down(room, room.start if tries.do(room.start) else room.most, tries)
    step = max(1, int(counts.max()) // _FIRST_STEP)
    while True:
        better = _try_moves(room, counts, step, tries)
        if better is not None:
            counts = better
        elif step > 1:
            step //= 2
        else:
            return counts


class _Tries:
    """Limits the tries of a search: after the last one no counts pass."""

    def __init__(self, does: Callable[[Integers], bool], most: int) -> None:
        self._does = does
        self._left = most

    def do(self, counts: Integers) -> bool:
        """True if these counts meet the goal and tries are left."""
        self._left -= 1
        return self._left >= 0 and self._does(counts)


def _scale_down(room: CountBounds, counts: Integers, tries: _Tries) -> Integers:
    """Scales the counts down as far as they meet the goal."""
    low, high = 0, _SCALES
    best = counts
    while high - low > 1:
        middle = (low + high) // 2
        scaled = np.maximum(room.least, -(-counts * middle // _SCALES))
        if tries.do(scaled):
            high, best = middle, scaled
        else:
            low = middle
    return best


def _try_moves(room: CountBounds, counts: Integers, step: int, tries: _Tries) -> Integers | None:
    """Applies each move of a step that keeps the goal, one after the other; None if none does."""
    found = None
    for move in _moves(room.sizes, step):
        moved = counts + move
        while (moved >= room.least).all() and tries.do(moved):
            found = counts = moved
            moved = counts + move
    return found


def _moves(sizes: Integers, step: int) -> Iterator[Integers]:
    """Changes of the counts that save bytes, each a row of differences."""
    pools = np.eye(len(sizes), dtype=np.int64)
    descending = np.argsort(-sizes).tolist()
    for sold in descending:
        yield -step * pools[sold]
    for sold in descending:
        for bought in descending:
            if sold != bought:
                blocks, for_blocks = _trade(int(sizes[sold]), int(sizes[bought]), step)
                yield for_blocks * pools[bought] - blocks * pools[sold]


def _trade(sold: int, bought: int, step: int) -> tuple[int, int]:
    """How many blocks of `sold` bytes go for how many of `bought` bytes, which are fewer bytes.

    >>> _trade(1500, 1024, 1), _trade(64, 256, 1)
    ((1, 1), (5, 1))
    """
    if sold > bought:
        return step, (step * sold - 1) // bought
    return step * bought // sold + 1, step
