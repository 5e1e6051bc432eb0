# SPDX-License-Identifier: Apache-2.0
"""Tests of many combinations: a part of them in each run, all with HEAPFIT_ALL_PAIRS=1.

What can go wrong in a combination mostly goes wrong in one of its values. So the part holds every
value of every axis, and the long run (`make test-long`) holds every combination.
"""

import os
from collections.abc import Iterable
from itertools import product
from typing import Any

ALL = os.environ.get("HEAPFIT_ALL_PAIRS") == "1"


def thin(share: int, *axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """One of `share` combinations of the axes: those on every `share`-th diagonal.

    Every value is there where another axis has at least `share` values.
    """
    numbered = product(*(enumerate(axis) for axis in axes))
    kept = [one for one in numbered if ALL or sum(number for number, _ in one) % share == 0]
    return [tuple(value for _, value in one) for one in kept]
