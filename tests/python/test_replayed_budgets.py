# SPDX-License-Identifier: Apache-2.0
"""The search for designs of a small R_safe: bounded, seeded, and never worse than its starts."""

from pathlib import Path

import numpy as np
import pytest
from small_traces import fit_json, load_lines, table2

from heapfit import _engine
from heapfit.design.budgets.certified import find_budgets
from heapfit.design.budgets.greedy_budgets import plan_from_budgets
from heapfit.design.search.moves import BudgetSizes, Moves
from heapfit.design.search.pooled_design import PooledDesign
from heapfit.design.search.replayed import FAST, OTHERS, search_plans
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan import Plan
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

SIZES = [528, 1040, 1984, 2952]
EVENTS = 3_000_000


@pytest.fixture(scope="module")
def loaded(tmp_path_factory) -> LoadedTrace:
    folder: Path = tmp_path_factory.mktemp("search")
    return load_trace(open_any(table2(folder / "t.heap", 1500), ImportOptions(), folder))


@pytest.fixture(scope="module")
def exact(loaded: LoadedTrace) -> Plan:
    certified = find_budgets(loaded.events, SIZES, alignment=8)
    plan = plan_from_budgets(SIZES, certified.counts, 8)
    assert plan is not None
    return plan


def region(plan: Plan, loaded: LoadedTrace) -> int:
    found = _engine.Trial(plan.engine(), loaded.events).scan().r_safe
    assert found is not None
    return found


def test_the_search_finds_a_smaller_region_and_tells_it_rightly(
    loaded: LoadedTrace, exact: Plan
) -> None:
    found = search_plans(loaded, [exact], EVENTS)
    assert found is not None
    assert found.r_safe == region(found.plan, loaded)
    assert found.r_safe < region(exact, loaded)


def test_a_seed_gives_the_same_plan_again(loaded: LoadedTrace, exact: Plan) -> None:
    assert search_plans(loaded, [exact], EVENTS) == search_plans(loaded, [exact], EVENTS)


def test_what_is_spent_on_measuring_a_region_is_work_too(loaded: LoadedTrace, exact: Plan) -> None:
    told: list[float] = []
    assert search_plans(loaded, [exact], EVENTS, progress=lambda _, share: told.append(share))
    scan = 140 * len(loaded.events) / EVENTS  # docs/decisions/0005
    assert np.diff(told[:-1]).max() == pytest.approx(scan, rel=0.2)


def test_without_work_the_best_of_all_starts_is_found(loaded: LoadedTrace, exact: Plan) -> None:
    few = plan_from_budgets(SIZES, [1, 0, 0, 0], 8)
    assert few is not None
    found = search_plans(loaded, [few, exact], 0)
    assert found is not None
    assert found.r_safe <= region(exact, loaded)
    assert found.plan.pools == exact.pools


def test_the_shared_allocator_alone_is_in_the_running(tmp_path: Path) -> None:
    lines = [f"a {size} {8 * size}\nf {size}" for size in range(1, 100)]
    rising = load_lines(tmp_path / "t.heap", lines)
    poor = plan_from_budgets([8, 792], [1, 1], 8)
    assert poor is not None
    found = search_plans(rising, [poor], 0)
    assert found is not None
    assert not found.plan.pools
    assert found.r_safe == region(found.plan, rising) < region(poor, rising)


def test_no_result_is_worse_than_any_allocator_of_the_search(loaded: LoadedTrace) -> None:
    found = search_plans(loaded, [], EVENTS)
    assert found is not None
    for shared in (FAST, *OTHERS):
        assert found.r_safe <= region(Plan(shared.allocator, {"alignment": 8}), loaded)


def test_a_start_without_pools_is_one_more_allocator_for_what_is_left(tmp_path: Path) -> None:
    """Long-lived small blocks and short-lived large ones, each from an end of its own."""
    lines = [f"a {i} {16 + i % 97}\na {i + 9000} {900 + 7 * i}" for i in range(150)]
    lines += [f"f {i + 9000}" for i in range(150)]
    lines += [f"a {i + 20000} {950 + 7 * i}" for i in range(150)]
    shift = load_lines(tmp_path / "t.heap", lines)
    ends = {"alignment": 8, "ends": 2, "high_0": 0xFFFF, "high_1": 0}  # up to 15 granules
    found = search_plans(shift, [Plan("tailored", ends)], 0)
    assert found is not None
    assert found.plan.scalars.get("ends") == 2
    assert found.r_safe == region(found.plan, shift) < region(Plan("best_fit", {}), shift)


def test_sizes_are_merged_where_that_saves(tmp_path: Path) -> None:
    """448 B, kept as 512 B, leave blocks to those that fit no hole; 100 other sizes stay live."""
    lines = [f"a {i} {8 * i + 600}\na {i + 100} 448" for i in range(100)]
    lines += [f"f {i + 100}" for i in range(100)]
    lines += [f"a {i + 200} 512" for i in range(100)]
    shift = load_lines(tmp_path / "t.heap", lines)
    apart = plan_from_budgets([448, 512], [50, 50], 8)
    assert apart is not None
    found = search_plans(shift, [apart], EVENTS)
    assert found is not None
    assert found.r_safe == region(found.plan, shift)
    assert found.r_safe < 1.03 * shift.profile.u_max < region(apart, shift) / 1.1
    sizes = np.array([448, 512], np.uint64)
    assert len(set(found.plan.engine().pools_for(sizes).tolist())) == 1


def test_an_interrupt_ends_it(loaded: LoadedTrace, exact: Plan) -> None:
    told = 0

    def interrupting(step: str, done: float) -> None:
        nonlocal told
        assert (step, 0 <= done <= 1) == ("search budgets", True)
        told += 1
        if told == 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search_plans(loaded, [exact], EVENTS, progress=interrupting)
    assert told == 20


def test_fit_adds_what_the_search_found(tmp_path: Path) -> None:
    table2(tmp_path / "t.heap", 1500)
    asked = ("t.heap", "--search", "3", "--plans", "plans")
    rows = fit_json(*asked, folder=tmp_path)["plans"]["rows"]
    by_name = {row["name"]: row for row in rows}
    found = by_name["searched"]
    others = [row["r_safe"] for name, row in by_name.items() if name != "searched"]
    assert found["r_safe"] <= min(others)
    assert "plans tried" in found["reason"]
    assert found["trained_on_this_trace"]


def test_the_search_leaves_static_zones_behind(tmp_path: Path) -> None:
    """All blocks ever live at once set aside is a trap: one block fewer alone saves nothing."""
    spec = parse_workload("phases_w4:events=2000", 1)
    phases = load_trace(generate_workload(spec, tmp_path / "t.parquet"), 4)
    static = plan_from_budgets([528, 1040, 1980, 2952], [10, 10, 10, 10], 4)
    assert static is not None
    found = search_plans(phases, [static], 20_000_000)
    assert found is not None
    assert found.r_safe < 1.03 * phases.profile.u_max
    assert region(Plan("best_fit", {"alignment": 4}), phases) > 1.07 * phases.profile.u_max


def test_a_budget_that_there_is_not_begins_empty() -> None:
    """So its first count is a step from 0, or all that are ever live."""
    sizes = BudgetSizes(8, (64,), (0, 1_000), (64,))
    counts, moves = set(), Moves(sizes, 1)
    for _ in range(500):
        for budget in moves.change(PooledDesign((), OTHERS[0])).budgets:
            assert (budget.size, budget.above) == (64, 56)
            counts.add(budget.count)
    assert counts == {1, 2, 4, 8, 16, 32, 1_000}
