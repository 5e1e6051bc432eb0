# SPDX-License-Identifier: Apache-2.0
"""Budgets with a certificate: branch and bound, HiGHS and trying all agree; gaps are told."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_traces import event_array, heapfit, table2

from heapfit import _engine
from heapfit.design.budgets.certified import find_budgets
from heapfit.design.budgets.choice import Method
from heapfit.design.budgets.integer import Budgets, improve_budgets
from heapfit.design.budgets.program import BudgetLimits
from heapfit.errors import HeapfitError
from heapfit.progress import ignore_progress

pytestmark = pytest.mark.usefixtures("unmeasured")

ALLOC, FREE = 0, 4


def walk(sizes: list[int], most_live: int, events: int, seed: int) -> _engine.EventArray:
    """Each size allocated and freed at random, at most `most_live` of it live."""
    draw = random.Random(seed)
    live: dict[int, list[int]] = {size: [] for size in sizes}
    rows = []
    born = 0
    for _ in range(events):
        size = draw.choice(sizes)
        blocks = live[size]
        if blocks and (len(blocks) == most_live or draw.random() < 0.5):
            rows.append((FREE, blocks.pop(draw.randrange(len(blocks))), 0))
        else:
            rows.append((ALLOC, born, size))
            blocks.append(born)
            born += 1
    return event_array(rows)


def by_program_alone(points: _engine.BudgetPoints, seconds: float = 60.0) -> Budgets:
    """HiGHS from nothing: no budget at all, and a bound that says nothing."""
    nothing = Budgets((0,) * len(points.sizes), 0, points.u_max * len(points.sizes))
    return improve_budgets(points, nothing, seconds, ignore_progress)


# Table 1 of Lee and Yi 2008 gives n and P_i,max, neither sizes nor traces.
TABLE_1 = [
    ([2952, 1978, 1040, 528], 10),
    ([2952, 1978, 1040, 528], 20),
    ([2952, 1978, 1040, 528, 104], 10),
]


@pytest.mark.parametrize(("sizes", "most_live"), TABLE_1)
@pytest.mark.parametrize("seed", range(3))
def test_exact_is_exhaustive_on_the_shapes_of_table_1(
    sizes: list[int], most_live: int, seed: int
) -> None:
    events = walk(sizes, most_live, 1000, seed)
    exact = find_budgets(events, sizes, alignment=8)
    tried = find_budgets(events, sizes, alignment=8, method=Method.EXHAUSTIVE)
    assert exact.is_proven
    assert exact.dedicated == tried.dedicated
    program = by_program_alone(_engine.budget_points(events, sizes, 8))
    assert program.dedicated == program.bound == tried.dedicated


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    sizes=st.lists(st.integers(1, 400), min_size=1, max_size=4, unique_by=lambda s: -(-s // 8)),
    most_live=st.integers(1, 6),
    events=st.integers(1, 200),
    seed=st.integers(0, 2**32),
)
def test_every_method_agrees_on_small_traces(
    sizes: list[int], most_live: int, events: int, seed: int
) -> None:
    trace = walk(sizes, most_live, events, seed)
    tried = find_budgets(trace, sizes, alignment=8, method=Method.EXHAUSTIVE)
    exact = find_budgets(trace, sizes, alignment=8)
    program = by_program_alone(_engine.budget_points(trace, sizes, 8))
    assert exact.dedicated == exact.bound == tried.dedicated
    assert program.dedicated == program.bound == tried.dedicated
    greedy = find_budgets(trace, sizes, alignment=8, method=Method.GREEDY)
    assert greedy.dedicated <= tried.dedicated <= greedy.bound


@pytest.mark.parametrize("seed", range(4))
def test_highs_agrees_with_branch_and_bound_on_twelve_sizes(seed: int) -> None:
    sizes = [8 * k for k in (2, 3, 5, 8, 13, 21, 25, 34, 47, 55, 71, 89)]
    points = _engine.budget_points(walk(sizes, 8, 4000, seed), sizes, 8)
    searched = _engine.search_budgets(points, 10_000_000)
    program = by_program_alone(points)
    assert program.dedicated == program.bound == searched.dedicated == searched.bound


def test_past_the_time_limit_the_best_found_and_a_bound_are_told() -> None:
    sizes = [8 * k for k in range(3, 43)]
    events = walk(sizes, 10, 20_000, 1)
    greedy = find_budgets(events, sizes, alignment=8, method=Method.GREEDY)
    hurried = find_budgets(events, sizes, alignment=8, seconds=0.05)
    assert greedy.dedicated <= hurried.dedicated < hurried.bound
    assert not hurried.is_proven
    assert "at most" in hurried.account
    assert "below the best" in hurried.account
    points = _engine.budget_points(events, sizes, 8)
    assert (BudgetLimits.from_points(points).excess(np.array(hurried.counts)) <= 0).all()


@given(st.data())
@settings(max_examples=60, deadline=None, derandomize=True)
def test_counts_made_to_fit_violate_no_point(data: st.DataObject) -> None:
    sizes = [24, 40, 64, 104, 256]
    points = _engine.budget_points(walk(sizes, 8, 300, data.draw(st.integers(0, 99))), sizes, 8)
    limits = BudgetLimits.from_points(points)
    wished = np.array([data.draw(st.integers(0, cap)) for cap in limits.caps.tolist()])
    fitting = limits.repair(wished)
    assert (limits.excess(fitting) <= 0).all()
    if (limits.excess(wished) <= 0).all():
        assert (fitting >= wished).all()


def test_fit_tells_the_certificate_of_each_method(tmp_path) -> None:
    table2(tmp_path / "four.heap")
    both = heapfit("fit", "four.heap", "--plans", "plans", folder=tmp_path).stdout
    assert "greedy budgets for the 4 sizes" in both
    assert "exact budgets for the 4 sizes with most bytes at the peak: " in both or (
        "skipped: the same plan as budgeted_4_largest" in both
    )


def test_too_many_combinations_are_refused() -> None:
    sizes = [8 * k for k in range(2, 12)]
    with pytest.raises(HeapfitError, match="more than 10000000 combinations of budgets"):
        find_budgets(walk(sizes, 10, 2000, 1), sizes, alignment=8, method=Method.EXHAUSTIVE)
