# SPDX-License-Identifier: Apache-2.0
"""The numbers in a trace's column `op` (docs/evidence/schemas.md), and tests on them.

The engine's `Op` has the same numbers.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Mask: TypeAlias = NDArray[np.bool_]
Integers: TypeAlias = NDArray[np.int64]
REPLAYED = ("op", "object", "size", "alignment")  # the columns that decide a replay


class Op(IntEnum):
    """The operation of an event."""

    ALLOC = 0
    ZEROED = 1
    ALIGNED = 2
    RESIZE = 3
    FREE = 4


ALLOC, ZEROED, ALIGNED, RESIZE, FREE = Op


def is_allocation(ops: NDArray[Any]) -> Mask:
    """True for each event with which an object begins."""
    return np.asarray(ops <= ALIGNED)


def may_be_tagged(ops: NDArray[Any]) -> Mask:
    """True for each event whose call site can be passed to an allocator: unaligned requests."""
    return np.asarray(ops < ALIGNED)


def is_end(ops: NDArray[Any], sizes: NDArray[Any]) -> Mask:
    """True for each event that ends its object: a free, or a resize to 0 bytes.

    >>> is_end(np.array([ALLOC, RESIZE, RESIZE, FREE]), np.array([0, 8, 0, 0])).tolist()
    [False, False, True, True]
    """
    return np.asarray((ops == FREE) | ((ops == RESIZE) & (sizes == 0)))


def find_next_events(keys: NDArray[Any]) -> NDArray[np.int64]:
    """The next event of the same key (block, thread) for each; the number of events if none."""
    order = np.argsort(keys, kind="stable")  # each key's events side by side
    following = np.full(len(order), len(order), np.int64)
    is_same = keys[order[1:]] == keys[order[:-1]]
    following[order[:-1][is_same]] = order[1:][is_same]
    return following
