# SPDX-License-Identifier: Apache-2.0
"""The largest of many regions, found without measuring all of them.

What a plan needs for a fleet is the most that any recording needs. Where most bytes are live
at once, R_safe is searched; each of the others is replayed once in the largest found, which
proves of most plans that no more is needed:

    searched   | R1 |         | R2  R3 |               one, then two, four ... of those left
    proven      . . . . x . . x . . x . .   . . . .    x: refused, or not proven: left

So a fleet of a thousand costs about one replay of each recording a plan, and the answer is what the
search of all would give.
"""

from __future__ import annotations

from collections.abc import Sequence

from heapfit.comparison.incumbents.needs import find_largest
from heapfit.design.robust.jobs import Pair, ReplayCache


def largest_regions(groups: Sequence[Sequence[Pair]], replays: ReplayCache) -> list[int | None]:
    """The largest R_safe of each group of pairs; None where a pair has none."""
    left = [
        sorted(group, key=lambda pair: (-replays.load.peaks[pair[1]], pair[1])) for group in groups
    ]
    searched: list[list[Pair]] = [[] for _ in groups]
    many = 1
    while any(left):
        for pairs, now in zip(left, searched, strict=True):
            now.extend(pairs[:many])
        replays.measure(pair for now in searched for pair in now)
        most = [_largest_region(now, replays) for now in searched]
        left = _select_unproven([pairs[many:] for pairs in left], most, replays)
        many *= 2
    return [_largest_region(now, replays) for now in searched]


def _largest_region(pairs: Sequence[Pair], replays: ReplayCache) -> int | None:
    return find_largest([replays.region(plan, trace) for plan, trace in pairs])


def _select_unproven(
    left: Sequence[Sequence[Pair]], most: Sequence[int | None], replays: ReplayCache
) -> list[list[Pair]]:
    """The pairs of each group that may need more than the largest region found in it."""
    asked = [
        [(plan, trace, region) for plan, trace in pairs]
        for pairs, region in zip(left, most, strict=True)
        if region is not None
    ]
    replays.prove(question for some in asked for question in some)
    return [
        [
            (plan, trace)
            for plan, trace in pairs
            if region is not None and not replays.is_proven(plan, trace, region)
        ]
        for pairs, region in zip(left, most, strict=True)
    ]
