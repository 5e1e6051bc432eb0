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
    Horizon,
    LongerRuns,
    LongerRunTable,
    Refusal,
    expect_further_runs,
    expect_longer_runs,
    join_runs,
    list_rows,
    make_row,
)
from heapfit.forecast.kind import Kind, RecordingKind
from heapfit.trace.loaded import LoadedTrace

_ALIKE = 2.0  # times as long, at most, are recordings whose windows are joined


@dataclass(frozen=True, slots=True)
class _Expected:
    """What is expected of longer runs, and what it rests on."""

    runs: LongerRuns | Refusal
    is_job: bool
    basis: str


def forecast_longer_runs(
    selection: Selection, kinds: FitKinds, horizon: Horizon | None
) -> LongerRunTable:
    """The forecast of the heap that is set, from the recordings and their kinds."""
    choice, shown = selection.choice, kinds.shown
    expected = _expect(selection, kinds)
    events = 0 if expected.is_job else len(choice.shown.events)
    if isinstance(expected.runs, Refusal):
        return LongerRunTable((), expected.runs, "", events)
    region = choice.answer.size.region
    rows = list_rows(expected.runs, region, is_job=expected.is_job)
    if horizon is not None:
        times = horizon.times(shown.profile.events, shown.microseconds)
        rows.append(make_row(horizon.text, times, expected.runs, region, is_asked=True))
    return LongerRunTable(tuple(rows), None, expected.basis, events)


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
