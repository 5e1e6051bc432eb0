# SPDX-License-Identifier: Apache-2.0
"""The least number from which on something holds, found by halving an interval.

Where the numbers are a range that is searched to the last one, the library's `bisect_left` with a
key does it; where they are coarser, or real, these do.
"""

from __future__ import annotations

from collections.abc import Callable

_HALVINGS = 200  # below a double's precision, of any interval


def bisect_least(
    works: Callable[[int], bool],
    fails: int,
    *,
    does: int,
    unit: int = 1,
    within: int = 1,
    share: int = 0,
) -> int:
    """The least multiple of `unit` between `fails` and `does` that works.

    It is found to `within`, or to one part in `share` of itself. `fails` is taken not to work,
    `does` to work; neither is tried.

    >>> bisect_least(lambda size: size >= 20_001, 0, does=65_536, unit=8)
    20008
    """
    while does - fails > max(within, unit, does // share if share else 0):
        middle = (fails + does) // 2 // unit * unit
        fails, does = (fails, middle) if works(middle) else (middle, does)
    return does


def bisect_real(works: Callable[[float], bool], fails: float, does: float) -> float:
    """The least real number between the two that works, to a double's precision.

    >>> round(bisect_real(lambda x: x * x >= 2, 1.0, 2.0), 6)
    1.414214
    """
    for _ in range(_HALVINGS):
        middle = (fails + does) / 2
        fails, does = (fails, middle) if works(middle) else (middle, does)
    return does
