# SPDX-License-Identifier: Apache-2.0
"""The plan for a workload, or the heap that the program or many have where that does as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.fitting.assessment import NO_RECORDING, HoldoutResult
from heapfit.fitting.choice import Choice, make_choice
from heapfit.fitting.choosing import choose
from heapfit.fitting.excerpt_search import ExcerptInfo, choose_by_excerpts
from heapfit.fitting.incumbent import (
    Baselines,
    Judge,
    compare_baselines,
    keep_incumbent,
    measure_baselines,
)
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Request, Workload
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile

_TRIED = 15  # changes, about: of the heap that there is


@dataclass(frozen=True, slots=True)
class Selection:
    """The plan selected for a workload; later stages do not change it."""

    workload: Workload
    options: FitOptions  # with the margin for the horizon that is asked for
    searched: tuple[LoadedTrace, ...]  # each recording, or its excerpt
    fitted: Choice  # the plan, whatever heap there is
    choice: Choice  # its answer is for the heap there is, where that is kept
    profile: Profile  # of the whole recording that is shown
    excerpt: ExcerptInfo | None  # where a recording is too long to be searched whole
    baselines: Baselines
    today: IncumbentVerdict | None  # one of them compared with the plan
    others: HoldoutResult = NO_RECORDING  # that were not searched (shortlist.py)

    @property
    def needs(self) -> tuple[int | None, ...]:
        """What each recording needs in the heap that is set."""
        if self.choice.answer.is_kept and self.today is not None:
            return tuple(pair.now for pair in self.today.pairs)
        return self.choice.r_safe

    @property
    def writes_code(self) -> bool:
        """True if the fitted heap is written, as C and as the plan."""
        return not self.choice.answer.is_kept or self.options.code


def select_plan(workload: Workload, request: Request, own: Sequence[Heap]) -> Selection:
    """Selects the plan that serves all recordings in the least memory, or a heap there is.

    `own`: the program's heap, if it is known. Of excerpts no other heap is kept, since it would not
    be tried on the whole.
    """
    systems: tuple[Needs, ...] = ()

    def search(searched: Sequence[LoadedTrace], progress: Progress) -> Choice:
        return choose(
            searched,
            workload.names,
            options=request.options,
            progress=progress,
            sweep=request.sweep,
            systems=systems,
        )

    searched, choosing, excerpt = workload.loaded, request.stages.part("choose"), None
    if len(searched) < len(workload.recordings):
        choice, searched, profile, excerpt = choose_by_excerpts(workload, request, search, choosing)
    baselines = measure_baselines(own, searched, request)
    systems = baselines.needs
    if excerpt is None:
        choice = search(searched, choosing)
        profile = choice.shown.profile
    options = request.options
    found = Selection(
        workload, options, searched, choice, choice, profile, excerpt, baselines, None
    )
    return _decide(found, request.stages.part("judge", steps=_TRIED))


def decide_again(
    selection: Selection, margin: float | None = None, *, peaks: tuple[int, ...] = ()
) -> Selection:
    """The selection as another margin makes it, in percent, or peaks; the fitted plan stays."""
    options, fitted = selection.options, selection.fitted
    options = options if margin is None else replace(options, margin=margin)
    load = fitted.row.load
    fitted = make_choice(
        replace(fitted.row, load=replace(load, peaks=peaks or load.peaks)),
        fitted.table,
        shown=(fitted.shown, fitted.comparison, fitted.winner),
        trained_on=fitted.plan_file.trained_on,
        options=options,
        verdict=fitted.verdict,
    )
    return _decide(replace(selection, options=options, fitted=fitted), ignore_progress)


def _decide(selection: Selection, progress: Progress) -> Selection:
    """Between the fitted plan and the heap there is."""
    baselines, fitted, excerpt = selection.baselines, selection.fitted, selection.excerpt
    if not baselines.needs or not (excerpt is None or baselines.is_known):
        return replace(selection, choice=fitted)
    options, recordings = selection.options, selection.workload.recordings
    judge = Judge(recordings, selection.searched, fitted, options, progress)
    today = compare_baselines(baselines, judge)
    choice = fitted if today is None else keep_incumbent(fitted, today, options)
    if excerpt is not None:
        excerpt = replace(excerpt, is_kept=choice.answer.is_kept)
    return replace(selection, choice=choice, excerpt=excerpt, today=today)
