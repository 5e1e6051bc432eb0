# SPDX-License-Identifier: Apache-2.0
"""What a trace's column `op` says, by number (docs/trace-schema.md), and what follows from it.

The engine's `Op` has the same numbers.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Mask: TypeAlias = NDArray[np.bool_]

ALLOC, ZEROED, ALIGNED, RESIZE, FREE = range(5)


def is_allocation(ops: NDArray[Any]) -> Mask:
    """Of each event, whether an object begins with it."""
    return np.asarray(ops <= ALIGNED)


def may_be_tagged(ops: NDArray[Any]) -> Mask:
    """Of each event, whether an allocator can be told its call site: requests of no alignment."""
    return np.asarray(ops < ALIGNED)


def is_end(ops: NDArray[Any], sizes: NDArray[Any]) -> Mask:
    """Of each event, whether its object ends with it: a free, or a resize to 0 bytes.

    >>> is_end(np.array([ALLOC, RESIZE, RESIZE, FREE]), np.array([0, 8, 0, 0])).tolist()
    [False, False, True, True]
    """
    return np.asarray((ops == FREE) | ((ops == RESIZE) & (sizes == 0)))
