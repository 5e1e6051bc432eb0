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
from functools import partial

import numpy as np

from heapfit.bisection import bisect_least
from heapfit.progress import Progress, ignore_progress
from heapfit.sizing.pool_replay import PoolReplay
from heapfit.sizing.separate_pools import SeparatePools
from heapfit.trace.operations import Integers

_SEARCHED = 1_500_000_000  # events replayed in search of counts: some seconds
_FEWEST_TRIES, _MOST_TRIES = 200, 20_000
_SCALES = 1024  # a ray has so many points
_FIRST_STEP = 8  # of the largest count: one part in so many


def choose_counts(
    replay: PoolReplay,
    alone: SeparatePools,
    progress: Progress = ignore_progress,
    stretches: slice = slice(None),
) -> Integers:
    """Chooses counts for the admission of `alone` in these stretches of the trace it belongs to.

    A pool that runs out too rarely for the trace to show it keeps all it ever needed, and what an
    extrapolation adds to that is added at the end, so that no other pool lives on it.
    """
    peaks = np.array([pool.demand.peak for pool in alone.pools])
    counts = np.array([pool.run_out.count for pool in alone.pools])
    is_beyond = np.array([pool.run_out.is_beyond for pool in alone.pools])
    most_tries = min(max(_FEWEST_TRIES, _SEARCHED // replay.events), _MOST_TRIES)
    tries = iter(range(most_tries))

    def does(tried: Integers) -> bool:
        number = next(tries, None)
        if number is None:
            return False
        progress("counts", number / most_tries)
        return replay.run(tried).rows(stretches).is_within(alone.refused)

    chosen = least_counts(
        does,
        np.array([pool.size for pool in alone.pools]),
        least=np.where(is_beyond, peaks, 0),
        start=np.minimum(counts, peaks),
        most=peaks,
    )
    progress("counts", 1.0)
    return np.asarray(chosen + np.maximum(counts - peaks, 0), dtype=np.int64)


def counts_without_fall_back(replay: PoolReplay, alone: SeparatePools) -> Integers:
    """The counts that serve each pool's share of the trace together, if a full pool refuses.

    One pool after the other is lowered, by bisection, while all are served: what a pool refuses
    asks nothing of the one that a resize would move it to, and what that one refuses stays. Where
    no block is resized each count is the least there is. An extrapolated one is that of `alone`, as
    it is with a fall-back.
    """
    counts = np.array([pool.demand.peak for pool in alone.pools])

    def serves(pool: int, count: int) -> bool:
        tried = np.where(np.arange(len(counts)) == pool, count, counts)
        return replay.run(tried, falls_back=False).is_within(alone.refused)

    for pool, peak in enumerate(counts.tolist()):
        counts[pool] = bisect_least(partial(serves, pool), -1, does=peak)
    return np.array(
        [
            one.run_out.count if one.run_out.is_beyond else count
            for one, count in zip(alone.pools, counts.tolist(), strict=True)
        ]
    )


def least_counts(
    does: Callable[[Integers], bool],
    sizes: Integers,
    *,
    least: Integers,
    start: Integers,
    most: Integers,
) -> Integers:
    """The counts of fewest bytes that pass `does`, found from `start` or else from `most`.

    None goes below `least`, which is nowhere above `start`; `most` surely passes. Index of all: the
    pool. The search ends where `does` takes no more counts.
    """
    full = start if does(start) else most

    def scale(part: int) -> Integers:
        return np.maximum(least, -(-full * part // _SCALES))

    counts = scale(bisect_least(lambda part: does(scale(part)), 0, does=_SCALES))
    step = max(1, int(counts.max()) // _FIRST_STEP)
    while step > 0:
        before = counts
        for move in _moves(sizes, step):
            while (counts + move >= least).all() and does(counts + move):
                counts = counts + move
        step = step if counts is not before else step // 2
    return counts


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
