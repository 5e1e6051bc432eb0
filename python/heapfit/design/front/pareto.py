# SPDX-License-Identifier: Apache-2.0
"""The Pareto front of figures of which less is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

Figures = Sequence[float | None]  # None: not known


class Dominance(StrEnum):
    """How a configuration compares with the others."""

    FRONT = "front"  # none is as good in everything and better in something
    DOMINATED = "dominated"
    SAME = "same"  # every figure as that of an earlier one of the front
    UNKNOWN = "unknown"  # a figure is missing, so that it cannot be compared


@dataclass(frozen=True, slots=True)
class Rank:
    """A configuration's dominance, and the configuration that it is compared with."""

    standing: Dominance
    by: int | None = None  # who dominates, or has the same figures: the first such of the front


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """True if `one` is nowhere worse and somewhere better than `other`.

    >>> dominates((1, 2), (1, 3)), dominates((1, 2), (1, 2)), dominates((1, 2), (2, 1))
    (True, False, False)
    """
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def rank_points(figures: Sequence[Figures]) -> list[Rank]:
    """The rank of each row of figures; a figure that no row has is ignored.

    >>> [one.standing.value for one in rank_points([(1, 9), (9, 1), (9, 9), (1, 9), (None, 1)])]
    ['front', 'front', 'dominated', 'same', 'unknown']
    """
    kept = list(range(len(figures[0]))) if figures else []
    kept = [i for i in kept if any(row[i] is not None for row in figures)]
    rows: dict[int, tuple[float, ...]] = {}
    for number, row in enumerate(figures):
        known = [value for i in kept if (value := row[i]) is not None]
        if len(known) == len(kept):
            rows[number] = tuple(known)
    front = _front(rows)
    return [_rank_row(number, rows, front) for number in range(len(figures))]


def _front(rows: dict[int, tuple[float, ...]]) -> dict[tuple[float, ...], int]:
    """The figures that nobody dominates, each with the first that has them."""
    front: dict[tuple[float, ...], int] = {}
    for number, row in sorted(rows.items(), key=lambda item: (item[1], item[0])):
        # Whoever dominates a row comes before it in this order.
        if row not in front and not any(dominates(other, row) for other in front):
            front[row] = number
    return front


def _rank_row(
    number: int, rows: dict[int, tuple[float, ...]], front: dict[tuple[float, ...], int]
) -> Rank:
    if number not in rows:
        return Rank(Dominance.UNKNOWN)
    row = rows[number]
    if row in front:
        first = front[row]
        return Rank(Dominance.FRONT) if first == number else Rank(Dominance.SAME, first)
    return Rank(Dominance.DOMINATED, next(who for one, who in front.items() if dominates(one, row)))
