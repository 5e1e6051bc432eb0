# SPDX-License-Identifier: Apache-2.0
"""How long the heap that is set lasts: runs as long as the recording, 10 and 100 times as long.

A service is forecast from the windows of its recordings; a job, and whatever was recorded eight
times, from the needs of its runs, which know the load's bounds better. Where neither can be, the
reason stands in their place. Regions are as the user sets them.
"""

from __future__ import annotations

from dataclasses import dataclass

from heapfit.comparison.incumbents.requests import adapt_requests, requests_of
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice
from heapfit.fitting.recording_kinds import FitKinds
from heapfit.fitting.selection import Selection
from heapfit.forecast.extent import ReplayedRun, make_run
from heapfit.forecast.horizon import (
    FEWEST_RUNS,
    MOST_TIMES,
    Forecast,
    Horizon,
    LongerRuns,
    Refusal,
    expect_further_runs,
    expect_longer_runs,
    join_runs,
)
from heapfit.forecast.kind import Kind, RecordingKind
from heapfit.trace.loaded import LoadedTrace

CHANCE = 0.01  # that a run needs more than the region that is told
_ALIKE = 2.0  # times as long, at most, are recordings whose windows are joined
_TIMES = (1.0, 10.0, MOST_TIMES)


@dataclass(frozen=True, slots=True)
class LongerRun:
    """A run of one length: its chance to run out of memory, and the region that makes it small."""

    name: str  # "10 x as long", "10 runs", or the horizon that was asked for
    times: float  # as long as the recording; of a job: runs
    is_asked: bool  # a horizon was asked for
    chance: float | None  # in the region that is set; None: not known
    needed: Forecast | None  # for CHANCE; None: not known
    reason: str  # why not; "": it is known


@dataclass(frozen=True, slots=True)
class LongerRunsOfFit:
    """What the recordings say of longer runs in the heap that is set."""

    rows: tuple[LongerRun, ...]  # by length; empty where no length can be forecast
    refusal: Refusal | None  # of all lengths
    basis: str  # what the forecast rests on; "": there is none
    events: int  # replayed for it


@dataclass(frozen=True, slots=True)
class _Expected:
    """What is expected of longer runs, and what it rests on."""

    runs: LongerRuns | Refusal
    is_job: bool
    basis: str


def forecast_longer_runs(
    selection: Selection, kinds: FitKinds, horizon: Horizon | None
) -> LongerRunsOfFit:
    """The forecast of the heap that is set, from the recordings and their kinds."""
    choice, shown = selection.choice, kinds.shown
    expected = _expect(selection, kinds)
    events = 0 if expected.is_job else len(choice.shown.events)
    if isinstance(expected.runs, Refusal):
        return LongerRunsOfFit((), expected.runs, "", events)
    region = choice.answer.size.region
    lengths = [(_name(times, is_job=expected.is_job), times, False) for times in _TIMES]
    rows = [_row(one, expected.runs, region) for one in lengths]
    if horizon is not None:
        rows.append(_make_asked_row(horizon, expected.runs, region, shown))
    return LongerRunsOfFit(tuple(rows), None, expected.basis, events)


def find_margin_for(selection: Selection, kinds: FitKinds, horizon: Horizon) -> float | None:
    """The margin that a run of this length needs; None if it is not known, or is there already."""
    longer, size = forecast_longer_runs(selection, kinds, horizon), selection.choice.answer.size
    needed = longer.rows[-1].needed if longer.rows else None
    if needed is None or needed.region <= size.region:
        return None
    return size.margin_to(needed.region)


def _expect(selection: Selection, kinds: FitKinds) -> _Expected:
    shown = kinds.shown
    if shown.is_growing:
        reason = Refusal("the recording grows", "find what grows")
        return _Expected(reason, is_job=False, basis="")
    needs = [need for need in _list_needs(selection) if need is not None]
    if shown.kind is Kind.JOB or len(needs) >= FEWEST_RUNS:
        return _Expected(expect_further_runs(needs), is_job=True, basis=f"{len(needs)} runs")
    if selection.excerpt is not None:
        reason = Refusal("the recording is too long to be replayed for it", "")
        return _Expected(reason, is_job=False, basis="")
    return _expect_of_services(selection, kinds)


def _list_needs(selection: Selection) -> tuple[int | None, ...]:
    """What each recording needs in the heap that is set."""
    if selection.choice.answer.kept is not None and selection.today is not None:
        return tuple(pair.now for pair in selection.today.pairs)
    return tuple(selection.choice.r_safe)


def _expect_of_services(selection: Selection, kinds: FitKinds) -> _Expected:
    """What is expected by the windows of all services of about the same length."""
    shown = selection.choice.shown
    found: list[LongerRuns] = []
    needs = _list_needs(selection)
    for loaded, kind, need in zip(selection.searched, kinds.each, needs, strict=False):
        is_alike = 0.5 <= len(loaded.events) / len(shown.events) <= _ALIKE
        if need is None or (loaded is not shown and not is_alike):
            continue
        one = _expect_of_service(selection.choice, loaded, kind, need)
        if isinstance(one, LongerRuns):
            found.append(one)
        elif loaded is shown:
            return _Expected(one, is_job=False, basis="")
    longer = join_runs(found)
    runs = "" if len(found) == 1 else f" of {len(found)} runs"
    return _Expected(longer, is_job=False, basis=f"{len(longer.maxima)} windows{runs}")


def _expect_of_service(
    choice: Choice, loaded: LoadedTrace, kind: RecordingKind, need: int
) -> LongerRuns | Refusal:
    kept = choice.answer.kept
    try:
        run = _run_of(choice, loaded)
    except HeapfitError as error:
        return Refusal(str(error), "")
    found = expect_longer_runs(run, need if kept is None else kept.region(need), kind)
    return (
        found if kept is None or isinstance(found, Refusal) else found.convert_regions(kept.memory)
    )


def _run_of(choice: Choice, loaded: LoadedTrace) -> ReplayedRun:
    kept = choice.answer.kept
    if kept is None:
        return make_run(loaded, choice.winner.plan)
    served = adapt_requests(kept, requests_of(loaded)).engine()
    base = loaded.trace.base_alignment_for(kept.plan.alignment)
    return ReplayedRun(served, served, kept.plan, base)


def _name(times: float, *, is_job: bool) -> str:
    if is_job:
        return "1 run" if times == 1 else f"{times:,.0f} runs"
    return "as long" if times == 1 else f"{times:,.0f} x as long"


def _row(length: tuple[str, float, bool], runs: LongerRuns, region: int) -> LongerRun:
    name, times, is_asked = length
    needed = runs.forecast(times, CHANCE)
    if isinstance(needed, Refusal):
        return LongerRun(name, times, is_asked, None, None, f"{needed.reason}; {needed.advice}")
    return LongerRun(name, times, is_asked, runs.chance(region, times), needed, "")


def _make_asked_row(
    horizon: Horizon, runs: LongerRuns, region: int, shown: RecordingKind
) -> LongerRun:
    times = horizon.times(shown.profile.events, shown.microseconds)
    if isinstance(times, Refusal):
        return LongerRun(horizon.text, 0.0, True, None, None, f"{times.reason}; {times.advice}")
    return _row((horizon.text, times, True), runs, region)
