# SPDX-License-Identifier: Apache-2.0
"""The kinds of the recordings, and the bytes that longer runs need of the heap that is set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit.comparison.longer import LongerRuns, tell_longer_runs
from heapfit.comparison.margin import HeapSize
from heapfit.fitting.selection import Selection, decide_again
from heapfit.forecast.filling import (
    describe_filling,
    describe_growth,
    name_growing_sites,
)
from heapfit.forecast.kind import RecordingKind, find_kind
from heapfit.trace.profile import Profile
from heapfit.trace.stored import Trace


@dataclass(frozen=True, slots=True)
class FitKinds:
    """The kind of each recording, and the one to be said first."""

    each: tuple[RecordingKind, ...]
    shown: RecordingKind  # one that grows; else that of the run that is shown
    growth: tuple[str, ...]  # sentences; empty where nothing grows
    names: Mapping[int, str]  # of the call sites that grow, where a program knows them


def extend_to_horizon(selection: Selection) -> tuple[Selection, FitKinds, LongerRuns]:
    """The selection with the margin for the horizon that is asked for, where that is more.

    Then the kinds of the recordings, and what longer runs need of the heap that is set. A margin
    that is given stands, and so does the fitted plan.
    """
    answer, options = selection.choice.answer, selection.options
    read = [(one.trace, one.read.profile) for one in selection.workload.recordings]
    kinds = find_kinds(
        read,
        selection.choice.shown.trace,
        answer.heap.title if answer.is_kept else "fitted",
        answer.size,
        options.programs,
    )
    longer = tell_longer_runs(
        answer.size,
        answer.known,
        kinds.shown,
        horizon=options.horizon,
        set_to=answer.heap.set_to,
    )
    needed = longer.beyond(answer.heap.set_to(answer.size.region))
    if needed is None or options.margin is not None:
        return selection, kinds, longer
    margin = answer.size.margin_to(answer.heap.memory_of(needed))
    return extend_to_horizon(decide_again(selection, margin))


def find_kinds(
    read: Sequence[tuple[Trace, Profile]],
    shown: Trace,
    heap: str,
    size: HeapSize,
    programs: Sequence[Path],
) -> FitKinds:
    """The kinds of recordings, one read of each; `heap` names the one that has the size."""
    kinds = [find_kind(trace, profile) for trace, profile in read]
    order = sorted(range(len(kinds)), key=lambda i: not kinds[i].is_leak)  # a leak is said first
    grown = next((i for i in order if kinds[i].is_growing), None)
    if grown is None:
        paths = [trace.path for trace, _ in read]
        place = paths.index(shown.path) if shown.path in paths else 0
        return FitKinds(tuple(kinds), kinds[place], (), {})
    kind = kinds[grown]
    names = name_growing_sites(kind, read[grown][0], programs)
    filling = describe_filling(kind, heap, size.region, peak=size.u_max, need=size.r_safe)
    cure = " Fix it and record again." if kind.is_leak else ""
    growth = describe_growth(kind, names), f"{filling}{cure}"
    return FitKinds(tuple(kinds), kind, growth, names)
