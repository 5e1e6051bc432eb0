# SPDX-License-Identifier: Apache-2.0
"""Designs for several traces: trained on all, judged by those that a plan has not seen."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from small_traces import (
    design_whole,
    fit_json,
    heapfit_json,
    load_lines,
    table2,
)

from heapfit import _engine
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import best_row, select_row
from heapfit.design.plan_files import save_candidates, training_record
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import candidate_from_file
from heapfit.design.robust.design import design_several
from heapfit.design.robust.joined_trace import join_traces
from heapfit.design.robust.portfolio import robust_portfolio
from heapfit.errors import HeapfitError
from heapfit.importers import ImportOptions, open_any
from heapfit.plan.plan_file import load_plan
from heapfit.sweep import Sweep
from heapfit.trace.loaded import load_trace
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_workload, parse_workload

pytestmark = pytest.mark.usefixtures("unmeasured")

EVENTS = 600


def opened(path: Path) -> Trace:
    return open_any(path, ImportOptions(), path.parent)


def trace_of(folder: Path, name: str, lines: list[str]) -> Trace:
    return load_lines(folder / f"{name}.heap", lines).trace


def blocks(count: int, size: int) -> list[str]:
    return [f"a {i} {size}" for i in range(count)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Trace]:
    folder: Path = tmp_path_factory.mktemp("runs")
    return [opened(table2(folder / f"t{seed}.heap", EVENTS, seed)) for seed in range(1, 6)]


@pytest.fixture(scope="module")
def designs(runs: list[Trace]) -> Comparison:
    return design_whole(runs)


def test_joined_traces_peak_as_the_highest_of_them_does(runs: list[Trace], tmp_path: Path) -> None:
    joined = profile_trace(join_traces(tmp_path / "j.parquet", runs))
    apart = [profile_trace(trace) for trace in runs]
    assert joined.u_max == max(one.u_max for one in apart)
    assert joined.never_freed == 0
    for i, size in enumerate(joined.sizes.tolist()):
        peaks = [dict(zip(one.sizes.tolist(), one.peaks.tolist(), strict=True)) for one in apart]
        assert joined.peaks[i] == max(one.get(size, 0) for one in peaks)


def test_a_block_resized_and_left_live_is_freed_between_traces(tmp_path: Path) -> None:
    first = trace_of(tmp_path, "a", ["a 0 100", "a 1 50", "r 0 300", "f 1"])
    second = trace_of(tmp_path, "b", ["a 0 200"])
    joined = profile_trace(join_traces(tmp_path / "j.parquet", [first, second]))
    assert joined.u_max == 350
    assert joined.live_blocks_max == 2


def test_every_region_holds_for_its_own_trace(runs: list[Trace], designs: Comparison) -> None:
    for row in designs.rows:
        for trace, region in zip(runs, row.needs, strict=True):
            assert region is not None
            assert _engine.Trial(row.plan.engine(), trace.events()).run(region).runs
        assert row.r_safe == max(region or 0 for region in row.needs)


def test_pools_alone_run_out_on_a_trace_with_more_blocks_in_any_region(tmp_path: Path) -> None:
    few = [trace_of(tmp_path, f"few{i}", blocks(10, 64)) for i in range(3)]
    many = trace_of(tmp_path, "many", blocks(20, 64))
    rows = {row.name: row for row in design_whole([*few, many]).rows}
    alone, over = rows["class_pools_worst_case"], rows["budgeted_worst_case"]
    assert (alone.unseen_r_safe, alone.held.count(False)) == (None, 1)
    assert alone.needs == (alone.r_safe,) * 4  # made from all it serves all
    assert over.unseen_r_safe is not None


def test_recordings_too_many_to_be_held_together_are_refused_in_a_line(
    runs: list[Trace], limit: Callable[..., None]
) -> None:
    together = sum(trace.info.events for trace in runs)
    limit(MOST_IN_MEMORY=together - 1)
    told = rf"^{len(runs)} recordings have [\d,]+ events, more than can be held in memory"
    with Sweep(workers=1) as sweep, pytest.raises(HeapfitError, match=told):
        design_whole(runs, sweep=sweep)


def test_plans_of_several_traces_are_written_with_their_region(tmp_path: Path) -> None:
    for seed in (1, 2):
        table2(tmp_path / f"t{seed}.heap", EVENTS, seed)
    asked = ("t1.heap", "t2.heap", "--plans", "plans")
    told = fit_json(*asked, folder=tmp_path)["plans"]
    assert (told["traces"], told["folds"]) == (2, 2)
    assert told["plans"][0].startswith("plans/")
    best = told["rows"][0]
    plan = tmp_path / told["plans"][0]
    again = heapfit_json("compare", "t1.heap", "--plan", plan, folder=tmp_path)["rows"]
    assert [row["r_safe"] for row in again] == [best["regions"][0]]
    assert f"r_safe = {best['region']}" in plan.read_text()


def test_a_plan_knows_each_trace_that_it_was_made_from(runs: list[Trace], tmp_path: Path) -> None:
    designs, loaded = design_whole(runs[:2]), [load_trace(run) for run in runs[:3]]
    trained_on = training_record(["first", "second"], loaded[:2], designs)
    paths = save_candidates(designs, trained_on, tmp_path)
    [path] = [path for path in paths if path.stem == "budgeted_4_largest"]
    plan = load_plan(path)
    events = sum(run.info.events for run in runs[:2])
    assert (plan.trained_on.trace, plan.trained_on.events) == ("first-and-1-more", events)
    assert [seen.trace for seen in plan.trained_on.traces] == ["first", "second"]
    for trace, is_seen in zip(loaded, (True, True, False), strict=True):
        assert candidate_from_file(plan, trace).trained_on_this_trace == is_seen


def test_a_candidate_far_off_is_left_out_and_told(designs: Comparison) -> None:
    (fixed_pool,) = [one for one in designs.not_applicable if one.name == "fixed_pool"]
    assert "times what the best needs" in fixed_pool.why
    assert fixed_pool.name not in [row.name for row in designs.rows]


def by_name(designs: Comparison, name: str) -> Row:
    return next(row for row in designs.rows if row.name == name)


def with_row(designs: Comparison, row: Row) -> Comparison:
    """With this row first and then the best that counts no blocks."""
    plain = best_row(designs, is_cut=False)
    assert plain is not None
    return replace(designs, rows=(row, plain))


@pytest.fixture(scope="module")
def pools(designs: Comparison) -> Row:
    """A row with pools that held on every trace and saved 2 % of each U_max there."""
    plain = best_row(designs, is_cut=False)
    assert plain is not None
    needs = tuple(
        (region or 0) - u_max // 50
        for region, u_max in zip(plain.unseen, designs.peaks, strict=True)
    )
    row = by_name(designs, "budgeted_4_largest")
    return replace(row, unseen=needs, unseen_r_safe=max(needs), held=(True,) * 5)


def test_pools_that_held_and_saved_on_every_trace_left_out_are_chosen(
    designs: Comparison, pools: Row
) -> None:
    assert select_row(with_row(designs, pools)) == pools


@pytest.mark.parametrize("trace", range(5))
def test_pools_that_failed_or_saved_too_little_once_are_not(
    designs: Comparison, pools: Row, trace: int
) -> None:
    plain = best_row(designs, is_cut=False)
    failed = replace(pools, held=tuple(i != trace for i in range(5)))
    assert select_row(with_row(designs, failed)) == plain
    needs = list(pools.unseen)
    needs[trace] = (needs[trace] or 0) + designs.peaks[trace] // 90
    too_little = replace(pools, unseen=tuple(needs))
    assert select_row(with_row(designs, too_little)) == plain
    nowhere = replace(pools, unseen=tuple(None if i == trace else n for i, n in enumerate(needs)))
    assert select_row(with_row(designs, nowhere)) == plain


def test_what_held_is_what_needs_no_more_than_the_heap_set_without_it(tmp_path: Path) -> None:
    few = [trace_of(tmp_path, f"few{i}", blocks(10, 64)) for i in range(2)]
    many = trace_of(tmp_path, "many", blocks(20, 64))  # twice the load: the heap is set for it
    rows = {row.name: row for row in design_whole([*few, many]).rows}
    assert rows["tlsf"].held == (True, True, True)
    assert rows["class_pools_worst_case"].held == (True, True, False)  # made for ten blocks


def test_what_is_learned_on_each_is_learned_on_all_joined(tmp_path: Path) -> None:
    """The same plans, by fewer events: what fails for one trace is not replayed on the others."""
    workload = "phases_x16:events=1500"
    runs = [
        generate_workload(parse_workload(workload, seed), tmp_path / f"{seed}.parquet")
        for seed in range(1, 9)
    ]
    joined = load_trace(join_traces(tmp_path / "j.parquet", runs))
    fleet = _engine.Fleet(tuple(trace.events() for trace in runs))
    one = robust_portfolio(joined, PlanOptions())
    each = robust_portfolio(replace(joined, fleet=fleet), PlanOptions())
    assert {c.name: c.plan for c in each.candidates} == {c.name: c.plan for c in one.candidates}
    assert each.work.events < one.work.events / 2
    assert sorted(fleet.hardest_first) == list(range(len(runs)))


def test_a_fleet_has_one_trace_at_least() -> None:
    with pytest.raises(ValueError, match="one trace at least"):
        _engine.Fleet(())


@pytest.mark.parametrize("workload", ["t2_w4:events=500", "djgpp_test:slots=30,events=400"])
def test_what_is_not_searched_changes_no_choice(tmp_path: Path, workload: str) -> None:
    traces = [
        generate_workload(parse_workload(workload, seed), tmp_path / f"{seed}.parquet")
        for seed in range(11, 17)
    ]
    every = design_whole(traces)
    some, _ = design_several([load_trace(trace) for trace in traces], PlanOptions())

    def largest(designs: Comparison) -> list[tuple[object, ...]]:
        return [(row.name, row.plan, row.r_safe, row.unseen_r_safe) for row in designs.rows]

    kept = {row.name for row in some.rows}
    assert largest(some) == [one for one in largest(every) if one[0] in kept]
    assert some.work.regions < every.work.regions
    for pools_asked in (False, True):
        assert select_row(some, pools_asked).plan == select_row(every, pools_asked).plan
    assert select_row(some).needs == select_row(every).needs
    assert select_row(some).unseen == select_row(every).unseen
