# SPDX-License-Identifier: Apache-2.0
"""Decisions at their edges: each test fails if a limit is one unit off or a part is left out."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heapfit import generate as heap_code
from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedRuns
from heapfit.comparison.costs.heap_costs import find_code
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.requests import (
    Requests,
    find_placing_events,
)
from heapfit.comparison.margin import HeapSize, MarginBasis, MarginKind, heap_size, largest_r_safe
from heapfit.design import portfolio
from heapfit.fitting import assessment, incumbent
from heapfit.fitting.choice import Choice
from heapfit.fitting.choosing import choose
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Run
from heapfit.fitting.verify.survival import Survival
from heapfit.forecast.horizon import (
    FEWEST_RUNS,
    Forecast,
    LongerRuns,
    Refusal,
    expect_further_runs,
    join_runs,
    refuse_growth,
)
from heapfit.plan.plan import Plan, Pool
from heapfit.trace.excerpt import windows_of
from heapfit.trace.loaded import LoadedTrace, load_trace
from heapfit.trace.operations import ALLOC, FREE, RESIZE
from heapfit.trace.stored import Trace

KNOWN = MarginBasis(1, 87_384, MarginKind.PLAIN)
TRACES = Path(__file__).parents[2] / "examples/recordings/traces"


# ---- sizes


@pytest.mark.parametrize("region", range(92_000, 92_200, 24))
def test_the_largest_need_for_a_region_is_the_last_that_fits(region: int) -> None:
    largest = largest_r_safe(region, KNOWN)
    assert heap_size(largest, KNOWN).region <= region < heap_size(largest + 8, KNOWN).region


def test_a_peak_below_the_recorded_one_shrinks_nothing_wherever_it_is_given() -> None:
    assert heap_size(90_296, KNOWN, peak=50_000).peak == 87_384
    assert HeapSize(90_296, 87_384, 50_000, 2).region == HeapSize(90_296, 87_384, 87_384, 2).region
    assert heap_size(90_296, KNOWN, peak=87_385).peak == 87_385


def test_a_saving_of_just_two_percent_at_survival_is_too_little() -> None:
    assert not Survival(10_000, 9_800, 3, 3).is_less
    assert Survival(10_000, 9_799, 3, 3).is_less
    assert Survival(None, 9_800, 3, 3).is_less
    assert not Survival(10_000, None, 3, 3).is_less


# ---- excerpts


def test_three_quarters_of_a_window_lie_before_its_event() -> None:
    profile = SimpleNamespace(live_blocks_max=10, u_max_event=1_023, events=1_000_000)
    highest = np.zeros(977, np.uint64)
    highest[0] = 1
    found = SimpleNamespace(profile=profile, live_highest=highest, octave_peaks=())
    windows = windows_of(found, 2 * 2048, [500_000])  # type: ignore[arg-type]
    assert windows == [(0, 2048), (500_000 - 1536, 500_000 + 512)]


# ---- several recordings


class ChangedRun:
    """A changed recording that runs from `need` bytes on."""

    events = 7

    def __init__(self, need: int) -> None:
        self.need = need

    def runs_in(self, memory: int) -> bool:
        return memory >= self.need


@pytest.mark.parametrize("needs", [(1_000, 1_095), (1_095, 1_000)])
def test_a_change_holds_only_if_every_recording_does(needs: tuple[int, int]) -> None:
    size = HeapSize(1_000, 1_000, 1_000, 2)  # 1,024 B
    runs = ChangedRuns([ChangedRun(need) for need in needs], 1_000)  # type: ignore[misc]
    assert (runs.serve_in(size, 2), runs.serve_in(size, 10)) == (False, True)
    assert not runs.are_proven(size)
    assert runs.find_margin(size, 2) == 8.9  # up to 1,096 B
    assert runs.find_margin(size, 9.5) == 9.5
    assert runs.events == 14
    assert ChangedRuns(runs.runs, 1_100).serve_in(size, 2)  # in proportion to the peak


def longer(*maxima: int, windows: float = 48.0) -> LongerRuns:
    return LongerRuns(max(maxima), np.array(maxima), windows)


def test_recordings_are_forecast_from_the_windows_of_all() -> None:
    joined = join_runs([longer(1, 5, windows=40), longer(9, 2, windows=50)])
    assert joined.maxima.tolist() == [1, 5, 9, 2]
    assert (joined.region, joined.windows) == (9, 45)


def test_a_job_takes_eight_runs_and_all_of_them() -> None:
    few = expect_further_runs(range(1, FEWEST_RUNS))
    assert isinstance(few, Refusal)
    assert "7 runs are recorded" in few.reason
    found = expect_further_runs(range(1, FEWEST_RUNS + 1))
    assert isinstance(found, LongerRuns)
    assert (found.region, found.maxima.tolist(), found.windows) == (8, [*range(1, 9)], 1)


@pytest.mark.parametrize(
    ("sites", "said"), [((0,), "record its call sites"), ((0, 7), "heapfit sites RUN")]
)
def test_what_grows_is_found_by_sites_where_they_are_recorded(
    sites: tuple[int, ...], said: str
) -> None:
    kind: Any = SimpleNamespace(sites=sites)
    assert said in refuse_growth(kind).advice


def test_a_forecast_ends_at_a_hundred_times() -> None:
    runs = longer(*range(1000, 1048))
    assert isinstance(runs.forecast(100, 0.01), Forecast)
    assert isinstance(runs.forecast(100.1, 0.01), Refusal)


# ---- heaps, code and logs


@pytest.mark.parametrize(
    ("sources", "name"),
    [
        (["recorder/target, lwIP"] * 2, "lwip-mem"),
        (["recorder/target, lwIP", "recorder/target, FreeRTOS"], None),
        (["recorder/target, lwIP", "a tool"], None),
        (["a tool"] * 2, None),
    ],
)
def test_the_own_heap_is_that_of_the_one_system_of_all_recordings(sources, name) -> None:
    recordings = [
        SimpleNamespace(trace=SimpleNamespace(info=SimpleNamespace(source=one))) for one in sources
    ]
    workload: Any = SimpleNamespace(recordings=recordings)
    found = incumbent.find_own_heap(workload, FitOptions())
    assert (found and found.name) == name


@pytest.mark.parametrize(("r_safe", "u_max", "over"), [(None, 8, None), (9, 0, None), (9, 6, 1.5)])
def test_nothing_is_over_a_peak_of_0_or_without_a_region(r_safe, u_max, over) -> None:
    assert Run("run", Path(), u_max, r_safe).over_u_max == over


def test_a_resize_to_nothing_places_no_block() -> None:
    op = np.array([ALLOC, RESIZE, RESIZE, FREE], np.uint8)
    size = np.array([8, 24, 0, 0], np.uint64)
    zeros = np.zeros(4, np.uint32)
    assert find_placing_events(Requests(op, zeros, size, zeros)).tolist() == [0, 1]


def test_the_code_size_of_a_plan_is_that_of_its_kind() -> None:
    (size,) = heap_code.code_size.read_code_size(Plan("tlsf", {"alignment": 8}))
    code = find_code(Heap("tlsf", Plan("tlsf", {"alignment": 8})))
    assert code is not None
    assert size.code == code.size


def test_a_heap_of_a_system_has_learned_nothing() -> None:
    nothing = Requests(*(np.zeros(0, kind) for kind in (np.uint8, np.uint32, np.uint64, np.uint32)))
    loaded: Any = SimpleNamespace(alignment=8, batches=nothing.batches)
    (candidate,) = portfolio.build_portfolio(loaded, ["heap_4"], []).candidates
    assert (candidate.name, candidate.trained_on_this_trace) == ("heap_4", False)


# ---- what a choice is compared with


@pytest.fixture(scope="module")
def recordings() -> list[LoadedTrace]:
    return [load_trace(Trace.open(TRACES / f"{name}.parquet")) for name in ("index-1", "cmark-1")]


@pytest.fixture(scope="module")
def choice(recordings: list[LoadedTrace]) -> Choice:
    return choose(recordings[:1], ["index-1"], options=FitOptions())


def test_a_row_is_offered_unless_it_needs_more_or_fits_this_one_recording(choice: Choice) -> None:
    first, second, *others = choice.comparison.rows
    counted = Plan("class_pools", {"alignment": 8}, (Pool(8, 1, True),), Plan("tlsf"))
    cut = replace(first, heap=Heap(first.name, counted), trained_on_this_trace=True)
    broken: Any = SimpleNamespace(needed=99.0)
    specific = replace(second, changes=ChangeTest((broken,)))
    rows = [cut, specific, *others[:-1], replace(others[-1], r_safe=None)]
    table = replace(choice.comparison, rows=rows)
    changed = replace(choice, comparison=table, table=table)
    judge = incumbent.Judge([], [], changed, FitOptions())
    offers = judge.row_offers(2**32)
    left_out = {row.name for row in rows if row.is_cut_to_trace or row.known.is_trace_specific}
    unserved = {row.name for row in rows if changed.needs.get(row.name) is None}
    assert {cut.name, specific.name} <= left_out
    assert {one.name for one in offers} == {row.name for row in rows} - left_out - unserved
    middle = sorted(one.region for one in offers)[len(offers) // 2]
    few = [one.name for one in offers if one.region <= middle]
    assert [one.name for one in judge.row_offers(middle)] == few != []


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_holdout_reports_its_progress_from_0_to_1(
    choice: Choice, recordings: list[LoadedTrace], is_kept: bool
) -> None:
    """The second recording needs more than the region that was chosen for the first."""
    runs: Any = [SimpleNamespace(loaded=one, trace=one.trace) for one in recordings]
    done: list[float] = []
    answer = replace(choice.answer, is_kept=is_kept)
    found = assessment.check_holdout(
        replace(choice, answer=answer), runs, recordings, lambda _, share: done.append(share)
    )
    assert done == [0, 0.5, 1]
    assert (found.seen, found.seen_refused) == (2, 1)
    assert found.events == sum(len(one.events) for one in recordings)
