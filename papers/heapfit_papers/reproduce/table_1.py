# SPDX-License-Identifier: Apache-2.0
"""Table 1 of Lee and Yi 2008: budgets by trying all, by the greedy algorithm, and by branch and
bound, which the paper has not.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from statistics import mean, median

from heapfit import _engine
from heapfit_papers.reproduce.laboratory import Laboratory
from heapfit_papers.reproduce.published import figure
from heapfit_papers.reproduce.walks import ALIGNMENT, draw_capped_walk

SEEDS = 10
_SMALL_SEEDS = 2
_EVENTS = 2000
_TO_THE_CAP = 10_000  # events, in which every size comes to its most blocks
_MOST_COMBINATIONS = 1 << 24
_NODES = 10_000_000


@dataclass(frozen=True, slots=True)
class Shape:
    """How many sizes, and how many blocks of each at most."""

    sizes: int
    limit: int  # P_i,max
    row: int | None = None  # column of table 1


@dataclass(frozen=True, slots=True)
class Solved:
    """Budgets of one trace. Bytes are sums of S_i N_i; table 1 alone has the exhaustive search."""

    greedy: int
    exact: int
    exhaustive: int | None
    is_proven: bool
    nodes: int  # choices that branch and bound tried
    greedy_ms: float
    exhaustive_ms: float


@dataclass(frozen=True, slots=True)
class Budgeting:
    """A shape, over the seeds: means of bytes and choices, medians of CPU times."""

    shape: Shape
    greedy: float
    exhaustive: float
    ratio: float
    worst_ratio: float
    is_proven: bool
    exact_equals_exhaustive: bool
    nodes: float
    greedy_ms: float
    exhaustive_ms: float


TABLE_1 = (Shape(4, 10, 0), Shape(4, 20, 1), Shape(5, 10, 2))
LARGER = (Shape(6, 10), Shape(8, 10), Shape(16, 10))
FEW = (2, 3, 4, 5)  # sizes for which all combinations are tried


def budgeting(laboratory: Laboratory) -> list[Budgeting]:
    """Every shape; in one process, as times are taken."""
    shapes = (*TABLE_1, *LARGER)
    budgetings = []
    for done, shape in enumerate(shapes):
        laboratory.progress("table 1", done / len(shapes))
        seeds = range(1, (_SMALL_SEEDS if laboratory.is_small else SEEDS) + 1)
        budgetings.append(_average(shape, [_solve_walk(shape, seed) for seed in seeds]))
    laboratory.progress("table 1", 1.0)
    return budgetings


def count_combinations(shape: Shape) -> int:
    """How many combinations of budgets the exhaustive search tries on a walk of this shape."""
    walk = draw_capped_walk(sizes_of(shape), shape.limit, _TO_THE_CAP, 1)
    sizes = walk.sizes.tolist()
    return _engine.exhaustive_budgets(
        walk.events, sizes, ALIGNMENT, _MOST_COMBINATIONS
    ).combinations


def sizes_of(shape: Shape) -> list[int]:
    """Sizes of workload 4, of workload 2, and as many more as the shape asks for."""
    own = [int(size) for size in figure("003-10", "w4").numbers]
    more = [int(size) for size in figure("003-10", "w2").numbers]
    return [*own, *reversed(more), *range(80, 80 + 56 * 16, 56)][: shape.sizes]


def _solve_walk(shape: Shape, seed: int) -> Solved:
    walk = draw_capped_walk(sizes_of(shape), shape.limit, _EVENTS, seed)
    sizes = walk.sizes.tolist()
    start = time.process_time()
    greedy = walk.greedy()
    greedy_end = time.process_time()
    points = _engine.budget_points(walk.events, sizes, ALIGNMENT)
    exact = _engine.search_budgets(points, _NODES)
    exact_end = time.process_time()
    tried = None
    if shape.row is not None:
        tried = _engine.exhaustive_budgets(walk.events, sizes, ALIGNMENT, _MOST_COMBINATIONS)
    return Solved(
        sum(size * count for size, count in zip(sizes, greedy, strict=True)),
        exact.dedicated,
        None if tried is None else tried.dedicated,
        exact.dedicated == exact.bound,
        exact.nodes,
        1000 * (greedy_end - start),
        1000 * (time.process_time() - exact_end),
    )


def _average(shape: Shape, some: list[Solved]) -> Budgeting:
    ratios = [one.greedy / one.exact for one in some]
    return Budgeting(
        shape,
        mean(one.greedy for one in some),
        mean(one.exact for one in some),
        mean(ratios),
        min(ratios),
        all(one.is_proven for one in some),
        all(one.exhaustive in (None, one.exact) for one in some),
        mean(one.nodes for one in some),
        median(one.greedy_ms for one in some),
        median(one.exhaustive_ms for one in some),
    )
