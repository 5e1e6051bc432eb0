# SPDX-License-Identifier: Apache-2.0
"""Tests of many combinations: a part of them in each run, all with HEAPFIT_ALL_PAIRS=1.

What can go wrong in a combination mostly goes wrong in one of its values. So the part holds every
value of every axis, and the long run (`make test-long`) holds every combination.
"""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import product
from typing import Any, TypeVar

T = TypeVar("T")
ALL = os.environ.get("HEAPFIT_ALL_PAIRS") == "1"


def thin(share: int, *axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """One of `share` combinations of the axes: those on every `share`-th diagonal.

    Every value is there where another axis has at least `share` values.
    """
    numbered = product(*(enumerate(axis) for axis in axes))
    kept = [one for one in numbered if ALL or sum(number for number, _ in one) % share == 0]
    return [tuple(value for _, value in one) for one in kept]


def of_the_day(share: int, items: Iterable[T], is_all: bool = ALL) -> list[T]:
    """One of `share` items, and the next day the next ones."""
    day = datetime.now(UTC).date().toordinal()
    return [item for i, item in enumerate(items) if is_all or (i + day) % share == 0]
