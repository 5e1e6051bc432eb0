# SPDX-License-Identifier: Apache-2.0
"""The plan for a workload, or the heap that the program or many have where that does as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.comparison.work import NO_WORK, Work
from heapfit.fitting.assessment import NO_RECORDING, HoldoutResult
from heapfit.fitting.choice import Choice, make_choice
from heapfit.fitting.choosing import choose, foretell_choice
from heapfit.fitting.excerpt_search import ExcerptInfo, choose_by_excerpts
from heapfit.fitting.incumbent import (
    Baselines,
    Judge,
    compare_baselines,
    find_own_heaps,
    keep_incumbent,
    measure_baselines,
)
from heapfit.fitting.options import FitOptions
from heapfit.fitting.workload import Request, Workload, read_workload
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile

_TRIED = 15  # changes, about: of the heap that there is
_REPLACED = 0.25  # of the heaps that programs have, about


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
    judged: Work = NO_WORK  # to compare them
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


def foretell(events: Sequence[int]) -> dict[str, float]:
    """The stages of a fit with about the seconds of each, for so many events a recording.

    Measured with 5,000 to 2,000,000 events; the compilers, which work beside the last stages, take
    no more for more.
    """
    total, runs = sum(events), len(events)
    size = total / 100_000
    return {
        "import": 0.01 + 0.05 * size,
        "read": 0.01 + 0.03 * size,
        "now": 0.04 + 0.12 * size,
        "choose": sum(foretell_choice(total, runs).values()),
        "judge": 0.02 + 0.05 * size,
        "reference": 0.05 + 0.12 * size,
        "hold": 0.02 + 0.01 * size,
        "write": 0.2 + 0.15 * size,
        "code": 0.95,
    }


def select_plan(sources: Sequence[Path], request: Request) -> Selection:
    """Selects the plan that serves all sources in the least memory, or a heap that there is.

    Of excerpts no heap but the program's own is kept, since it would not be tried on the whole.
    """
    workload = read_workload(sources, request)
    own = find_own_heaps(workload, request.options)
    seconds = foretell([one.trace.info.events for one in workload.recordings])
    seconds["code"] *= _REPLACED if own else 1
    request.stages.foretell(seconds)
    searched, choosing, excerpt = workload.loaded, request.stages.part("choose"), None
    if len(searched) < len(workload.recordings):
        choice, searched, profile, excerpt = choose_by_excerpts(workload, request, choosing)
    baselines = measure_baselines(own, searched, request)

    def judge(choice: Choice) -> tuple[IncumbentVerdict | None, Work]:
        ground = Judge(workload.recordings, searched, choice, request.options)
        return compare_baselines(baselines, ground), ground.work

    if excerpt is None:
        choice = choose(
            searched,
            workload.names,
            options=request.options,
            progress=choosing,
            sweep=request.sweep,
            systems=baselines.needs,
            judge=judge,
        )
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
    judged = selection.judged + judge.work
    return replace(selection, choice=choice, excerpt=excerpt, today=today, judged=judged)
