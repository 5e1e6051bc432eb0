# SPDX-License-Identifier: Apache-2.0
"""The search for budgets of a small R_safe: bounded, seeded, and never worse than its starts."""

from pathlib import Path

import pytest
from small_traces import heapfit_json, table2

from heapfit import _engine
from heapfit.design.budgets import budgeted_plan
from heapfit.design.certified_budgets import certified_budgets
from heapfit.design.replayed_budgets import search_plans
from heapfit.design.workload import Workload, load_workload
from heapfit.importers import ImportOptions, open_any
from heapfit.plan import Plan

SIZES = [528, 1040, 1984, 2952]
EVENTS = 3_000_000


@pytest.fixture(scope="module")
def workload(tmp_path_factory) -> Workload:
    folder: Path = tmp_path_factory.mktemp("search")
    return load_workload(open_any(table2(folder / "t.heap", 1500), ImportOptions(), folder))


@pytest.fixture(scope="module")
def exact(workload: Workload) -> Plan:
    certified = certified_budgets(workload.events, SIZES, 8)
    plan = budgeted_plan(SIZES, certified.counts, 8)
    assert plan is not None
    return plan


def region(plan: Plan, workload: Workload) -> int:
    found = _engine.find_region(plan.engine(), workload.events).r_safe
    assert found is not None
    return found


def test_the_search_finds_a_smaller_region_and_tells_it_rightly(
    workload: Workload, exact: Plan
) -> None:
    found = search_plans(workload, [exact], EVENTS)
    assert found is not None
    assert found.r_safe == region(found.plan, workload)
    assert found.r_safe < region(exact, workload)


def test_a_seed_gives_the_same_plan_again(workload: Workload, exact: Plan) -> None:
    assert search_plans(workload, [exact], EVENTS) == search_plans(workload, [exact], EVENTS)


def test_without_work_the_best_of_all_starts_is_found(workload: Workload, exact: Plan) -> None:
    few = budgeted_plan(SIZES, [1, 0, 0, 0], 8)
    assert few is not None
    found = search_plans(workload, [few, exact], 0)
    assert found is not None
    assert found.r_safe <= region(exact, workload)
    assert found.plan.pools == exact.pools
    assert search_plans(workload, [], EVENTS) is None


def test_an_interrupt_keeps_the_best_so_far(workload: Workload, exact: Plan) -> None:
    told = 0

    def interrupting(step: str, done: float) -> None:
        nonlocal told
        assert (step, 0 <= done <= 1) == ("search budgets", True)
        told += 1
        if told == 20:
            raise KeyboardInterrupt

    found = search_plans(workload, [exact], EVENTS, progress=interrupting)
    assert found is not None
    assert found.is_stopped
    assert found.told.endswith("interrupted")
    assert found.r_safe == region(found.plan, workload)
    assert found.r_safe <= region(exact, workload)


def test_design_adds_what_the_search_found(tmp_path: Path) -> None:
    table2(tmp_path / "t.heap", 1500)
    rows = heapfit_json("design", "t.heap", "--search", "3", folder=tmp_path)["rows"]
    by_name = {row["name"]: row for row in rows}
    found = by_name["budgeted_replayed"]
    others = [row["r_safe"] for name, row in by_name.items() if name.startswith("budgeted")]
    assert found["r_safe"] == min(others)
    assert "plans tried" in found["reason"]
    assert found["trained_on_this_trace"]
