# SPDX-License-Identifier: Apache-2.0
"""The phases of a recording: sections between lasting changes of sizes or live bytes.

The requests are cut into equal cells, and each cell is described by a few features, of a noise that
is told from neighbours. Cells are joined to phases so that the squared distances from the means of
the phases, and a price for each phase, are least together: exact, by dynamic programming.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

SHORTEST = 8  # cells of a phase; a change that lasts less is chance
_MOST_CELLS = 1000
_CLASSES = 16  # powers of two with the most requests
_PRICE = 3.0  # of a phase, times what Schwarz's criterion asks for
_LEAST_NOISE = 1e-4  # of a feature between 0 and 1, squared
_MEDIAN_OF_SQUARES = 0.9099  # of differences of two normal variates of variance 1


def phase_starts(sizes: NDArray[Any], live: NDArray[Any], cell: int) -> list[int]:
    """The first request of each phase, from the sizes of all and the live bytes before each.

    `cell` is how many requests make one cell; where they would be too many cells, they are longer.
    """
    count = min(len(sizes) // cell, _MOST_CELLS)
    if count < 2 * SHORTEST:
        return [0]

    edges = np.linspace(0, len(sizes), count + 1).astype(np.int64)
    features = _features(sizes, live, edges)
    return [int(edges[first]) for first in _segments(features / np.sqrt(_noise(features)))]


def _features(sizes: NDArray[Any], live: NDArray[Any], edges: NDArray[Any]) -> Numbers:
    """Share of requests in each power of two, and mean of live bytes, for each cell."""
    classes = np.frexp(sizes.astype(np.float64))[1]
    common = np.argsort(np.bincount(classes), kind="stable")[::-1][:_CLASSES]
    lengths = np.diff(edges)
    columns = [np.add.reduceat(classes == one, edges[:-1]) / lengths for one in common]
    highest = max(int(live.max()), 1)
    columns.append(np.add.reduceat(live / highest, edges[:-1]) / lengths)
    return np.column_stack(columns)


def _noise(features: Numbers) -> Numbers:
    """The variance of each feature within a phase."""
    squares = np.diff(features, axis=0) ** 2
    return np.maximum(np.median(squares, axis=0) / _MEDIAN_OF_SQUARES, _LEAST_NOISE)


def _segments(cells: Numbers) -> list[int]:
    """The first cell of each phase."""
    count, dimensions = cells.shape
    price = _PRICE * (dimensions + 1) * math.log(count)
    sums = np.vstack([np.zeros(dimensions), np.cumsum(cells, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum((cells**2).sum(axis=1))])
    best = np.full(count + 1, np.inf)
    best[0] = 0.0
    came_from = np.zeros(count + 1, np.int64)
    for end in range(SHORTEST, count + 1):
        starts = np.arange(end - SHORTEST + 1)
        inside = sums[end] - sums[starts]
        spread = squares[end] - squares[starts] - (inside**2).sum(axis=1) / (end - starts)
        costs = best[starts] + spread + price
        came_from[end] = int(np.argmin(costs))
        best[end] = costs[came_from[end]]
    firsts = [int(came_from[count])]
    while firsts[-1] > 0:
        firsts.append(int(came_from[firsts[-1]]))
    return firsts[::-1]
