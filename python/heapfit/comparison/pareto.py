# SPDX-License-Identifier: Apache-2.0
"""The Pareto front of figures of which less is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Figures: TypeAlias = Sequence[float | None]  # None: not known


def dominates(one: Sequence[float], other: Sequence[float]) -> bool:
    """True if `one` is nowhere worse and somewhere better than `other`.

    >>> dominates((1, 2), (1, 3)), dominates((1, 2), (1, 2)), dominates((1, 2), (2, 1))
    (True, False, False)
    """
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


def list_unbeaten(figures: Mapping[str, Figures]) -> frozenset[str]:
    """The names whose figures no others dominate; a figure that nobody has is ignored.

    Where some figures are missing there is nothing to compare, so that the name is not listed.

    >>> sorted(list_unbeaten({"a": (1, 9), "b": (9, 1), "c": (9, 9), "d": (1, 9), "e": (None, 1)}))
    ['a', 'b', 'd']
    """
    measured = [
        any(one is not None for one in column) for column in zip(*figures.values(), strict=True)
    ]
    kept = {
        name: [one for one, is_measured in zip(row, measured, strict=True) if is_measured]
        for name, row in figures.items()
    }
    known = {
        name: [one for one in row if one is not None]
        for name, row in kept.items()
        if None not in row
    }
    return frozenset(
        name
        for name, row in known.items()
        if not any(dominates(other, row) for other in known.values())
    )
