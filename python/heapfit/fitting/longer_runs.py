# SPDX-License-Identifier: Apache-2.0
"""How long the heap that is set lasts: runs as long as the recording, 10 and 100 times as long.

A service is forecast from the windows of its recordings; a job, and whatever was recorded eight
times, from the needs of its runs, which know the load's bounds better. Where neither can be, the
reason stands in their place. Regions are as the user sets them.
"""

from __future__ import annotations

from heapfit.comparison.incumbents.requests import adapt_requests, requests_of
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice
from heapfit.fitting.recording_kinds import FitKinds
from heapfit.fitting.selection import Selection
from heapfit.forecast.extent import ReplayedRun, make_run
from heapfit.forecast.horizon import (
    FEWEST_RUNS,
    Expectation,
    Horizon,
    LongerRuns,
    LongerRunTable,
    Refusal,
    expect_further_runs,
    expect_longer_runs,
    expect_of_services,
    refuse_growth,
)
from heapfit.forecast.kind import Kind, RecordingKind
from heapfit.trace.loaded import LoadedTrace


def forecast_longer_runs(
    selection: Selection, kinds: FitKinds, horizon: Horizon | None
) -> LongerRunTable:
    """The forecast of the heap that is set, from the recordings and their kinds."""
    choice, expected = selection.choice, _expect(selection, kinds)
    events = 0 if expected.is_job else len(choice.shown.events)
    return expected.tabulate(choice.answer.size.region, horizon, kinds.shown, events)


def find_margin_for(selection: Selection, kinds: FitKinds, horizon: Horizon) -> float | None:
    """The margin that a run of this length needs; None if it is not known, or is there already."""
    longer, size = forecast_longer_runs(selection, kinds, horizon), selection.choice.answer.size
    needed = longer.region_beyond(size.region)
    return None if needed is None else size.margin_to(needed)


def _expect(selection: Selection, kinds: FitKinds) -> Expectation:
    shown = kinds.shown
    if shown.is_growing:
        return Expectation(refuse_growth(shown))
    needs = [need for need in _list_needs(selection) if need is not None]
    if shown.kind is Kind.JOB or len(needs) >= FEWEST_RUNS:
        return Expectation(expect_further_runs(needs), is_job=True, basis=f"{len(needs)} runs")
    if selection.excerpt is not None:
        return Expectation(Refusal("the recording is too long to be replayed for it", ""))
    return _expect_of_services(selection, kinds)


def _list_needs(selection: Selection) -> tuple[int | None, ...]:
    """What each recording needs in the heap that is set."""
    if selection.choice.answer.kept is not None and selection.today is not None:
        return tuple(pair.now for pair in selection.today.pairs)
    return tuple(selection.choice.r_safe)


def _expect_of_services(selection: Selection, kinds: FitKinds) -> Expectation:
    choice, searched = selection.choice, selection.searched
    needs = _list_needs(selection)

    def expect(number: int) -> LongerRuns | Refusal:
        need = needs[number]
        if need is None:
            return Refusal("no region serves it", "")
        return _expect_of_service(choice, searched[number], kinds.each[number], need)

    shown = next((i for i, one in enumerate(searched) if one is choice.shown), 0)
    return expect_of_services([len(one.events) for one in searched], shown, expect)


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
