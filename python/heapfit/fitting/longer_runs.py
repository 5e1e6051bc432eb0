# SPDX-License-Identifier: Apache-2.0
"""The kinds of the recordings, and the forecast of longer runs in the heap that is set.

A service is forecast from the windows of its recordings; a job, and whatever was recorded eight
times, from the needs of its runs, which know the load's bounds better. Where neither can be, the
reason stands in their place. Regions are as the user sets them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.margin import HeapSize
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import Choice
from heapfit.fitting.selection import Selection, decide_again
from heapfit.forecast.extent import ReplayedRun
from heapfit.forecast.filling import (
    describe_filling,
    describe_growth,
    name_growing_sites,
)
from heapfit.forecast.horizon import (
    FEWEST_RUNS,
    LongerRuns,
    LongerRunTable,
    Refusal,
    expect_further_runs,
    expect_longer_runs,
    expect_of_services,
    refuse_growth,
    tabulate,
)
from heapfit.forecast.kind import Kind, RecordingKind, find_kind
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class FitKinds:
    """The kind of each recording, and the one to be said first."""

    each: tuple[RecordingKind, ...]
    shown: RecordingKind  # one that grows; else that of the run that is shown
    growth: tuple[str, ...]  # sentences; empty where nothing grows
    names: Mapping[int, str]  # of the call sites that grow, where a program knows them


def extend_to_horizon(selection: Selection) -> Selection:
    """The selection with the margin for the horizon that is asked for, where that is more.

    A margin that is given stands, and so does the fitted plan.
    """
    if selection.options.horizon is None or selection.options.margin is not None:
        return selection
    _, longer = forecast_selection(selection)
    size = selection.choice.answer.size
    needed = longer.region_beyond(size.region)
    return selection if needed is None else decide_again(selection, size.margin_to(needed))


def forecast_selection(selection: Selection) -> tuple[FitKinds, LongerRunTable]:
    """The kinds of the recordings, and the forecast of the heap that is set from them."""
    choice, options = selection.choice, selection.options
    read = [(one.trace, one.read.profile) for one in selection.workload.recordings]
    kinds = find_kinds(read, choice.shown.trace, choice.answer.size, options.programs)
    expected = _expect(selection, kinds)
    events = 0 if expected.is_of_runs else len(choice.shown.events)
    region, horizon = choice.answer.size.region, options.horizon
    return kinds, tabulate(expected, region, horizon=horizon, kind=kinds.shown, events=events)


def find_kinds(
    read: Sequence[tuple[Trace, Profile]], shown: Trace, size: HeapSize, programs: Sequence[Path]
) -> FitKinds:
    """The kinds of recordings, one read of each."""
    kinds = [find_kind(trace, profile) for trace, profile in read]
    grown = next((i for i, kind in enumerate(kinds) if kind.is_growing), None)
    if grown is None:
        paths = [trace.path for trace, _ in read]
        place = paths.index(shown.path) if shown.path in paths else 0
        return FitKinds(tuple(kinds), kinds[place], (), {})
    kind = kinds[grown]
    names = name_growing_sites(kind, read[grown][0].chains, programs)
    filling = describe_filling(kind, size.region, peak=size.u_max, need=size.r_safe)
    growth = describe_growth(kind, names), filling
    return FitKinds(tuple(kinds), kind, growth, names)


def _expect(selection: Selection, kinds: FitKinds) -> LongerRuns | Refusal:
    shown = kinds.shown
    if shown.is_growing:
        return refuse_growth(shown)
    needs = [need for need in selection.needs if need is not None]
    if shown.kind is Kind.JOB or len(needs) >= FEWEST_RUNS:
        return expect_further_runs(needs)
    if selection.excerpt is not None:
        return Refusal("the recording is too long to be replayed for it", "")
    return _expect_of_services(selection, kinds)


def _expect_of_services(selection: Selection, kinds: FitKinds) -> LongerRuns | Refusal:
    choice, searched = selection.choice, selection.searched
    needs = selection.needs

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
    heap = choice.answer.heap
    try:
        served = heap.events(loaded)
    except HeapfitError as error:
        return Refusal(str(error), "")
    base = loaded.trace.base_alignment_for(heap.plan.alignment)
    events = loaded.events if heap.is_ours else served
    run = ReplayedRun(events, served, heap.plan, base)
    region = heap.region(need)
    found = expect_longer_runs(run, region, kind)
    return found if isinstance(found, Refusal) else found.widen(heap.memory(region) - region)
