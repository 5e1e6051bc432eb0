# SPDX-License-Identifier: Apache-2.0
"""Decisions at their edges: each test fails if a limit is one unit off or a part is left out."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from heapfit import generate as heap_code
from heapfit.checks import check, drill
from heapfit.comparison.changed_programs import ChangedRuns
from heapfit.comparison.costs.heap_costs import find_code
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.requests import (
    Requests,
    find_placing_events,
)
from heapfit.comparison.margin import HeapSize, MarginBasis, MarginKind, heap_size, largest_r_safe
from heapfit.comparison.work import NO_WORK, Work
from heapfit.design import portfolio
from heapfit.design.placement import learned, stacks
from heapfit.design.robust.jobs import Replays
from heapfit.design.search.moves import Budget, Moves
from heapfit.errors import HeapfitError
from heapfit.fitting import assessment, excerpt_search, incumbent
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Run
from heapfit.fitting.verify import loop, pairs
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
from heapfit.plan.plan import Plan
from heapfit.progress import RunProgress, ignore_progress
from heapfit.sizing.demand import Demand, _merge
from heapfit.trace.excerpt import windows_of
from heapfit.trace.operations import ALLOC, FREE, RESIZE

KNOWN = MarginBasis(1, 87_384, MarginKind.PLAIN)
RIVAL = MarginBasis(1, 87_384, MarginKind.LISTED)  # with another margin


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


class View:
    """A long recording that is served from `needs` bytes on; `tried` has the regions replayed."""

    is_long = True

    def __init__(self, needs: int) -> None:
        self.needs, self.tried, self.refused = needs, list[int](), list[int]()

    def replay(self, _plan: object, region: int, _progress: object) -> Any:
        self.tried.append(region)
        failed = None if region >= self.needs else self.needs
        result = SimpleNamespace(refusals=int(failed is not None), failed_event=failed)
        return SimpleNamespace(result=lambda: result, reach=0)


def test_a_rival_is_tried_in_the_most_that_still_beats_the_choice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rival = SimpleNamespace(known=RIVAL, r_safe=60_000, plan="rival")
    choice: Any = SimpleNamespace(winner=SimpleNamespace(known=KNOWN))
    monkeypatch.setattr(excerpt_search, "list_rivals", lambda _: [rival])
    for needed in range(90_000, 90_200, 8):
        view: Any = View(2**31)
        found = excerpt_search._find_least_of_whole(
            view, choice, needed, FitOptions(), ignore_progress
        )
        best, limit = heap_size(needed, KNOWN).region, view.tried[0]
        assert found == (choice, needed)
        assert heap_size(limit, RIVAL).region < best <= heap_size(limit + 8, RIVAL).region


def test_every_long_recording_is_replayed_and_its_refusal_noted() -> None:
    views: Any = [View(900), View(1_001), View(1_000), View(1_200)]
    choice: Any = SimpleNamespace(winner=SimpleNamespace(plan=None), r_safe=(1_000, 800))
    assert excerpt_search._note_refused(views, choice, ignore_progress)
    assert [view.refused for view in views] == [[], [1_001], [], [1_200]]
    assert not excerpt_search._note_refused(views[:1], choice, ignore_progress)


def test_between_a_region_that_fails_and_one_that_serves_the_served_one_is_taken() -> None:
    for needs in range(1_100, 2_000, 100):
        view: Any = View(needs)
        found = excerpt_search._find_least_within(view, Plan("x"), 1_000, 2_000, ignore_progress)
        assert needs <= found <= needs + (2_000 - 1_000) / 4 + 8


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


# ---- verify


def start_loop(times: int = 1) -> Any:
    options = loop.VerifyOptions(times=times)
    return loop._Loop(None, Path(), options, [], 0, RunProgress(ignore_progress, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "refusal", "is_passed"),
    [(0, None, True), (0, "refused", False), (1, None, False), (1, "refused", False)],
)
def test_a_run_passes_if_it_ends_well_and_its_replay_is_served(
    monkeypatch: pytest.MonkeyPatch, status: int, refusal: str | None, is_passed: bool
) -> None:
    recorded = SimpleNamespace(trace=None, status=status, ending="", log=Path())
    replayed = SimpleNamespace(refusal=refusal, peak=8)
    monkeypatch.setattr(loop, "run_recording", lambda *_: replayed)
    monkeypatch.setattr(loop, "read_addresses", lambda _: None)
    monkeypatch.setattr(loop, "find_first_difference", lambda *_: None)
    running = start_loop()
    running.firmware = SimpleNamespace(record=lambda *_: recorded)
    assert running._record_fresh_run(None).is_passed is is_passed


class ScriptedLoop:
    """Rounds whose recorded runs pass or not, and the last runs that are refused."""

    def __init__(self, script: list[tuple[bool, tuple[int, ...]]]) -> None:
        self.script: Iterator[tuple[bool, tuple[int, ...]]] = iter(script)
        self.options, self.fitted = SimpleNamespace(times=9), 0

    def round(self, _plan: Path) -> Any:
        is_passed, refused = next(self.script)
        return SimpleNamespace(is_passed=is_passed, refused=refused)

    def run_unrecorded(self, done: Any) -> tuple[int, ...] | None:
        return done.refused if done.is_passed else None

    def refit(self, _done: object) -> Path:
        self.fitted += 1
        return Path(f"{self.fitted}.toml")

    def save_raised(self, _done: object, plan: Path) -> Path:
        return plan


@pytest.mark.parametrize(
    ("script", "rounds", "looks", "is_settled"),
    [
        ([(True, ())], 1, 1, True),
        ([(False, ()), (True, (4,)), (True, ())], 3, 2, True),
        ([(False, ())] * 9, loop.MOST_ROUNDS, 0, False),
        ([(True, (3,))] * 9, loop.MOST_ROUNDS, loop.MOST_ROUNDS, False),
    ],
)
def test_rounds_go_on_until_last_runs_pass_or_there_were_five(
    script: list[tuple[bool, tuple[int, ...]]], rounds: int, looks: int, is_settled: bool
) -> None:
    running: Any = ScriptedLoop(script)
    done = loop._repeat_rounds(running, Path("given.toml"))
    assert (len(done.rounds), done.looks, done.is_settled) == (rounds, looks, is_settled)
    assert running.fitted == rounds - 1
    assert done.plan == Path(f"{rounds - 1}.toml" if rounds > 1 else "given.toml")


@dataclass(frozen=True)
class Planned:
    """What of a plan raises its region."""

    region: int = 1_072
    runs: int = 1
    margin: float | None = 12
    plan: object = None
    base_alignment: int = 8


@pytest.mark.parametrize(
    ("needs", "margin", "region"),
    [((900, 1_200), 12, 1_344), ((900, 950), 12, 1_072), ((900, 1_200), None, 1_416)],
)
def test_a_region_is_raised_to_what_all_runs_need_with_the_margin(
    monkeypatch: pytest.MonkeyPatch, needs: tuple[int, int], margin: float | None, region: int
) -> None:
    """Without a margin of its own it is that of three runs: 18 %."""
    measured = SimpleNamespace(heap=Heap("plan", Plan("tlsf")), memories=needs)
    monkeypatch.setattr(pairs, "measure", lambda *_, **__: measured)
    monkeypatch.setattr(pairs, "heap_of_plan", lambda _: None)
    monkeypatch.setattr(pairs, "margin_kind", lambda *_: MarginKind.PLAIN)
    monkeypatch.setattr(pairs, "profile_trace", lambda _: SimpleNamespace(u_max=800))
    planned: Any = Planned(margin=margin)
    traces: Any = needs
    assert pairs.raise_region(planned, traces).region == region


# ---- heaps, code and logs


def test_a_row_is_offered_unless_it_needs_more_or_fits_this_one_recording(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def row(name: str, changes: float = 0.0, *, is_cut: bool = False) -> SimpleNamespace:
        known = replace(KNOWN, changes=changes)
        return SimpleNamespace(name=name, is_cut_to_trace=is_cut, known=known)

    rows = [
        row("kept"),
        row("unserved"),
        row("large"),
        row("cut", is_cut=True),
        row("specific", 99),
    ]
    needs = {"kept": 90_304, "unserved": None, "large": 91_000, "cut": 90_304, "specific": 90_304}
    monkeypatch.setattr(incumbent, "measures_of", lambda *_: None)
    choice: Any = SimpleNamespace(
        needs=needs, comparison=SimpleNamespace(rows=rows), answer=SimpleNamespace(known=KNOWN),
        shown=None,
    )  # fmt: skip
    most = heap_size(90_304, KNOWN).region
    offers = incumbent.Judge([], [], choice, FitOptions()).row_offers(most)
    assert [(one.name, one.region) for one in offers] == [("kept", most)]


@pytest.mark.parametrize(
    ("systems", "heap"),
    [(["a", "a"], "a"), (["a", "b"], None), ([None, None], None), (["a", None], None)],
)
def test_the_own_heap_is_that_of_all_recordings(
    monkeypatch: pytest.MonkeyPatch, systems: list[str | None], heap: str | None
) -> None:
    recordings = [
        SimpleNamespace(trace=SimpleNamespace(info=SimpleNamespace(source=one))) for one in systems
    ]
    monkeypatch.setattr(incumbent, "name_system_heap", lambda source: source)
    monkeypatch.setattr(incumbent, "find_heap", lambda name, _: name)
    workload: Any = SimpleNamespace(recordings=recordings)
    assert incumbent.find_own_heap(workload, FitOptions()) == heap


# ---- what else no other test looks at


@pytest.mark.parametrize(
    ("sources", "name"),
    [(["recorder/target, lwIP"] * 2, "lwip-mem"), (["recorder/target, lwIP", "a tool"], None)],
)
def test_the_own_heap_is_that_of_the_one_system_of_all_recordings(sources, name) -> None:
    recordings = [
        SimpleNamespace(trace=SimpleNamespace(info=SimpleNamespace(source=one))) for one in sources
    ]
    workload: Any = SimpleNamespace(recordings=recordings)
    found = incumbent.find_own_heap(workload, FitOptions())
    assert (found and found.name) == name


def test_a_holdout_reports_its_progress_from_0_to_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assessment, "_serves", lambda _choice, run, _: run == "good")
    monkeypatch.setattr(assessment, "_count_events", len)
    choice: Any = SimpleNamespace(answer=SimpleNamespace(is_kept=True))
    done: list[float] = []
    runs: Any = ["good", "bad"]
    found = assessment.check_holdout(choice, runs, runs, lambda _, share: done.append(share))
    assert done == [0, 0.5, 1]
    assert (found.seen, found.seen_refused, found.events) == (2, 1, 7)


def test_the_mean_of_recordings_counts_each_request_once() -> None:
    few = Demand(np.array([[1, 1]]), np.array([1, 1]), 2.0)
    many = Demand(np.array([[0, 3, 3]]), np.array([1, 1, 1]), 10.0)
    assert _merge([few, many]).mean_live == pytest.approx((2 * 2 + 6 * 10) / 8)


def test_a_job_of_a_check_weighs_what_its_file_does(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_bytes(b" " * 4000)
    request: Any = SimpleNamespace(highest=None)
    assert check._job(file, "run", request).events == 500


def test_of_equal_runs_the_first_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "content_hash", str.lower)
    runs: Any = {3: "a", 5: "b", 7: "A", 9: "B", 11: "c"}
    assert pairs._select_distinct_runs(runs) == [3, 5, 11]


@pytest.mark.parametrize(("r_safe", "u_max", "over"), [(None, 8, None), (9, 0, None), (9, 6, 1.5)])
def test_nothing_is_over_a_peak_of_0_or_without_a_region(r_safe, u_max, over) -> None:
    assert Run("run", Path(), u_max, r_safe).over_u_max == over


def test_a_resize_to_nothing_places_no_block() -> None:
    op = np.array([ALLOC, RESIZE, RESIZE, FREE], np.uint8)
    size = np.array([8, 24, 0, 0], np.uint64)
    zeros = np.zeros(4, np.uint32)
    assert find_placing_events(Requests(op, zeros, size, zeros)).tolist() == [0, 1]


def test_a_stretch_of_a_search_begins_with_the_best_region_so_far() -> None:
    for best, region in ((None, 0), (SimpleNamespace(region=5), 5)):
        search: Any = SimpleNamespace(best=best, _events_left=3)
        learned.PlacementSearch._mark(search)
        assert search._marked == (3, region)


def test_a_budget_that_there_is_not_begins_empty() -> None:
    moves: Any = SimpleNamespace(_sizes=SimpleNamespace(alignment=8))
    assert Moves._budget_for(moves, {}, 64) == Budget(64, 56, 0)


def test_sizes_with_the_least_bytes_at_the_peak_are_not_stacked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = 8 * np.arange(1, stacks._TRIED + 2)
    counts = np.where(sizes == 80, 1, 100)  # 80 B in all; of 8 B there are 800
    monkeypatch.setattr(stacks.greedy_budgets, "live_at_peak", lambda _: (sizes, counts))
    runs: Any = [None]
    assert set(sizes.tolist()) - set(stacks._common_sizes(runs, 8)) == {80}


def test_the_code_size_of_a_plan_is_that_of_its_kind() -> None:
    (size,) = heap_code.code_size.read_code_size(Plan("tlsf", {"alignment": 8}))
    code = find_code(Heap("tlsf", Plan("tlsf", {"alignment": 8})))
    assert code is not None
    assert size.code == code.size


@pytest.mark.parametrize(
    ("name", "key", "work"),
    [
        ("measure", ("PLAN", 0), Work(regions=5)),
        ("prove", ("PLAN", 0, 64), Work(regions=5)),
        ("try_out", ("PLAN", 0, 64), Work(judged=5)),
    ],
)
def test_each_replay_of_several_recordings_counts_as_work(
    name: str, key: tuple[Any, ...], work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Replays, "__init__", lambda _: None)
    monkeypatch.setattr(Replays, "_run_jobs", lambda *_: {key: (True, 5)})
    replays: Any = Replays()  # type: ignore[call-arg]  # with nothing to replay
    replays.work = NO_WORK
    replays._regions, replays._proven, replays._served = {}, {}, {}
    getattr(replays, name)([])
    assert replays.work == work


def test_a_heap_of_a_system_has_learned_nothing() -> None:
    nothing = Requests(*(np.zeros(0, kind) for kind in (np.uint8, np.uint32, np.uint64, np.uint32)))
    loaded: Any = SimpleNamespace(alignment=8, batches=nothing.batches)
    (candidate,) = portfolio.build_portfolio(loaded, ["heap_4"], []).candidates
    assert (candidate.name, candidate.trained_on_this_trace) == ("heap_4", False)


def test_a_program_that_any_signal_ends_by_itself_is_not_drilled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = SimpleNamespace(program="p")
    monkeypatch.setattr(drill, "prepare_program", lambda *_: nullcontext(program))
    hangup = SimpleNamespace(trace="a trace", status=-1)
    monkeypatch.setattr(drill, "record", lambda *_, **__: hangup)
    with pytest.raises(HeapfitError, match="p: is ended by signal 1 "):
        drill.drill_program("plan", ["p"])
