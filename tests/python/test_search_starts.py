# SPDX-License-Identifier: Apache-2.0
"""Where a search begins: the fullest moments, priced budgets, and what designs are as plans."""

import itertools
from pathlib import Path

import numpy as np
from small_traces import load_lines, table2

from heapfit import _engine
from heapfit.design.budgets.live_points import LivePoints, live_points
from heapfit.design.budgets.priced import price_budgets
from heapfit.design.search.moves import BudgetSizes, Moves
from heapfit.design.search.pooled_design import Budget, PooledDesign, SharedHeap, design_from_plan
from heapfit.design.search.starts import search_starts
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.loaded import load_trace

SIZES = [528, 1040, 1984, 2952]


def needed(points: LivePoints, counts: list[int], price: float) -> float:
    """The guess at R that priced budgets minimise."""
    sizes = np.array(SIZES)
    shared = points.live - np.minimum(points.blocks, counts) @ sizes
    return float(sizes @ np.array(counts) + (1 + price) * shared.max())


def test_bytes_move_from_one_budget_to_another() -> None:
    moves = Moves(BudgetSizes(8, (16, 32), (0, 100, 200), (16, 32)), seed=1)
    start = PooledDesign((Budget(16, 0, 50), Budget(32, 16, 50)), SharedHeap("tlsf"))
    gained = [
        {budget.size: budget.count - 50 for budget in moves.change(start).budgets}
        for _ in range(200)
    ]
    moved = [one for one in gained if one.get(16, 0) * one.get(32, 0) < 0]
    assert any(one[16] == -2 * one[32] for one in moved)


def test_moments_know_resizes_and_frees(tmp_path: Path) -> None:
    trace = load_lines(
        tmp_path / "t.heap", ["a 1 40", "a 2 40", "r 1 100", "f 2", "a 3 9", "r 1 0", "f 3"]
    ).trace
    points = live_points(trace.events(), [16, 40, 104], 8, 100)
    assert points.live.tolist() == [144, 120]
    assert points.blocks.tolist() == [[0, 1, 1], [1, 0, 1]]
    assert [seen.tolist() for seen in points.hits] == [[1], [1, 2], [1]]


def test_of_many_moments_the_fullest_of_each_stretch_stay(tmp_path: Path) -> None:
    loaded = load_trace(open_any(table2(tmp_path / "t.heap"), ImportOptions(), tmp_path))
    every = live_points(loaded.events, SIZES, 8, 10**6)
    few = live_points(loaded.events, SIZES, 8, 50)
    assert len(few.live) == 50 < len(every.live)
    assert few.live.max() == every.live.max()


def test_priced_budgets_are_as_good_as_the_best_of_all(tmp_path: Path) -> None:
    loaded = load_trace(open_any(table2(tmp_path / "t.heap", 400), ImportOptions(), tmp_path))
    points = live_points(loaded.events, SIZES, 8, 10**6)
    best = min(
        needed(points, list(counts), 0.1)
        for counts in itertools.product(*(range(11) for _ in SIZES))
    )
    found = price_budgets(points, SIZES, 0.1)
    assert needed(points, found, 0.1) <= 1.01 * best  # rounded


def test_starts_are_the_same_again_and_fit_the_trace(tmp_path: Path) -> None:
    loaded = load_trace(open_any(table2(tmp_path / "t.heap", 400), ImportOptions(), tmp_path))
    starts = search_starts(loaded)
    assert starts == search_starts(loaded)
    assert len(starts) >= 2
    for start in starts:
        assert _engine.Trial(start.engine(), loaded.events).scan().r_safe is not None


def test_a_design_of_single_sizes_is_budgeted() -> None:
    design = PooledDesign((Budget(40, 32, 3), Budget(512, 504, 2)), SharedHeap("best_fit"))
    shared = Plan("best_fit", {"alignment": 8})
    pools = (Pool(40, 3, is_exact=True), Pool(512, 2, is_exact=True))
    assert design.plan(8) == Plan("budgeted", {"alignment": 8}, pools, shared)
    assert PooledDesign((), SharedHeap("best_fit")).plan(8) == shared


def test_a_range_keeps_smaller_requests_as_its_largest_and_leaves_out_the_rest() -> None:
    plan = (
        PooledDesign((Budget(40, 32, 3), Budget(512, 440, 2)), SharedHeap("best_fit"))
        .plan(8)
        .engine()
    )
    sizes = np.array([1, 32, 33, 40, 41, 440, 441, 448, 512, 513], np.uint64)
    pools = plan.pools
    served = [
        pools[i][0] if i < len(pools) and pools[i][1] > 0 else None
        for i in plan.pools_for(sizes).tolist()
    ]
    assert served == [None, None, 40, 40, None, None, 512, 512, 512, None]


def test_a_plan_is_the_same_design_again() -> None:
    for design in (
        PooledDesign((Budget(40, 32, 3), Budget(512, 440, 2)), SharedHeap("tlsf")),
        PooledDesign((Budget(40, 32, 3), Budget(48, 40, 2)), SharedHeap("tlsf")),
    ):
        assert design_from_plan(design.plan(8), SharedHeap("tlsf")) == design
