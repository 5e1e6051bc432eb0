# SPDX-License-Identifier: Apache-2.0
"""How long blocks of each size class of `tailored` or `sized` live, and which may go together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heapfit.plan.plan import Plan
from heapfit.trace.blocks import Blocks
from heapfit.trace.operations import Integers

CLASSES = 64  # bits of high_0 and high_1, see hfit/tailored.h
_EXACT = 16  # granules: smaller chunks have a class of their own
_HEADED = 1  # the layout that has headers
_HEADER = 4  # bytes of one
_LEAST_HEADED = 16  # bytes of the smallest chunk then
_LEAST_MAPPED = 2  # granules of it in a map
_PAIRS = 2  # the layout in which it may have one
_CUTS = 10  # of each order of the classes, from decision 13
_SIZED = "sized"  # has the same classes, see hfit/sized.h
_LEAST_SIZED = 8  # bytes of its smallest chunk, or one granule


def size_class_bits(granules: Integers) -> Integers:
    """The bits of `high_0` (0 to 31) or `high_1` for chunks of this many granules.

    >>> size_class_bits(np.array([2, 15, 16, 19, 20, 40, 10**6, 2**30])).tolist()
    [2, 15, 16, 16, 17, 21, 63, 63]
    """
    log = np.frexp(granules)[1].astype(np.int64) - 1  # exact, as sizes are below 2^53
    above = 4 * log + (granules >> np.maximum(log - 2, 0) & 3)
    return np.where(granules < _EXACT, granules, np.minimum(above, CLASSES - 1))


def classes_of_sizes(sizes: NDArray[np.uint64], layout: Plan) -> Integers:
    """The class that a request of each size is served from.

    >>> sizes = np.array([0, 9, 17], np.uint64)
    >>> classes_of_sizes(sizes, Plan("tailored", {"alignment": 8})).tolist()
    [2, 2, 3]
    >>> classes_of_sizes(sizes, Plan("tailored", {"alignment": 4, "layout": 1})).tolist()
    [4, 4, 6]
    >>> classes_of_sizes(sizes, Plan("tailored", {"alignment": 8, "layout": 2})).tolist()
    [1, 2, 3]
    >>> [int(classes_of_sizes(sizes, Plan("sized", {"alignment": a}))[1]) for a in (4, 8, 16)]
    [3, 2, 1]
    """
    granule, bounds = layout.scalars["alignment"], layout.scalars.get("layout", 0)
    header = _HEADER if bounds == _HEADED else 0
    leasts = {0: _LEAST_MAPPED, _HEADED: _LEAST_HEADED // granule, _PAIRS: 1}
    least = max(_LEAST_SIZED // granule, 1) if layout.allocator == _SIZED else leasts[bounds]
    return size_class_bits(np.maximum(-(-(sizes.astype(np.int64) + header) // granule), least))


def class_lifetimes(
    blocks: Blocks, layout: Plan
) -> tuple[tuple[int, ...], list[tuple[float, ...]]]:
    """The classes that a heap of this layout puts the blocks into, ascending; and figures of each.

    These are the mean life in events; the mean age, over the bytes that are live at the peak, 0
    where none is; and the share of the blocks that is live then.
    """
    distinct, which = np.unique(blocks.sizes, return_inverse=True)
    class_of = classes_of_sizes(distinct, layout)[which]
    is_there = blocks.are_live_at(blocks.peak)
    bytes_there = is_there * np.maximum(blocks.sizes, 1)
    classes = np.flatnonzero(np.bincount(class_of, minlength=CLASSES))
    each = np.ones(len(class_of))
    figures = []
    for values, weights in (
        (blocks.ends - blocks.starts, each),
        (blocks.peak - blocks.starts, bytes_there),
        (is_there, each),
    ):
        sums = np.bincount(class_of, values * weights, CLASSES)[classes]
        whole = np.bincount(class_of, weights, CLASSES)[classes]
        figures.append(tuple((sums / np.maximum(whole, 1)).tolist()))
    return tuple(classes.tolist()), figures


def guesses(classes: Sequence[int], figures: Sequence[Sequence[float]]) -> list[int]:
    """Sets of classes to cut from the end: the first by a figure of their lifetimes, or by size."""
    placements = set()
    for key in (*figures, classes):
        order = [size_class for _, size_class in sorted(zip(key, classes, strict=True))]
        placements |= {sum(1 << one for one in order[:cut]) for cut in cuts(len(order))}
    return sorted(placements)


def cuts(count: int) -> list[int]:
    """The places at which an order of `count` classes is cut in two.

    >>> cuts(1), cuts(3)
    ([], [1, 2])
    """
    return sorted({round(i * count / (_CUTS + 1)) for i in range(1, _CUTS + 1)} - {0, count})
