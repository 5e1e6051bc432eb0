# SPDX-License-Identifier: Apache-2.0
"""The plan for a workload, or the incumbent heap where that does as well."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from heapfit.comparison.incumbents.heaps import SystemHeap
from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.incumbents.replacement import Today
from heapfit.fitting.choice import Choice, choose_for_one, choose_for_several
from heapfit.fitting.excerpt_search import ExcerptChoice, ExcerptInfo, choose_by_excerpts
from heapfit.fitting.incumbent import compare_incumbent, keep_incumbent, measure_incumbent
from heapfit.fitting.workload import Workload
from heapfit.progress import Progress, WeightedProgress
from heapfit.sweep import Sweep
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile


@dataclass(frozen=True, slots=True)
class Selection:
    """What was selected for a workload; to assess and to draw it changes nothing of it."""

    workload: Workload
    searched: tuple[LoadedTrace, ...]  # each recording, or its excerpt
    choice: Choice
    profile: Profile  # of the whole recording that is shown
    excerpt: ExcerptInfo | None  # where a recording is too long to be searched whole
    needs: Needs | None  # of the incumbent heap, where it was named
    today: Today | None  # that heap beside the plan

    @property
    def has_plan(self) -> bool:
        """False where the incumbent heap is kept."""
        return self.choice.answer.kept is None


def select_plan(
    workload: Workload, incumbent: SystemHeap | None, progress: WeightedProgress
) -> Selection:
    """The plan that serves all recordings in the least memory, beside the heap that there is."""
    excerpts = _choose_by_excerpts(workload, progress)
    searched = _loaded(workload) if excerpts is None else excerpts.searched
    needs = today = None
    if incumbent is not None:
        needs = measure_incumbent(incumbent, searched, progress.part("now"))
    choice = (
        _choose(workload, searched, progress.part("choose"))
        if excerpts is None
        else excerpts.choice
    )
    if needs is not None:
        today = compare_incumbent(needs, workload.recordings, choice)
        choice = keep_incumbent(choice, today, workload.request.options)
    profile = choice.shown.profile if excerpts is None else excerpts.profile
    info = (
        None if excerpts is None else replace(excerpts.info, is_kept=choice.answer.kept is not None)
    )
    return Selection(workload, searched, choice, profile, info, needs, today)


def _loaded(workload: Workload) -> tuple[LoadedTrace, ...]:
    return tuple(one.loaded for one in workload.recordings if one.loaded is not None)


def _choose_by_excerpts(workload: Workload, progress: WeightedProgress) -> ExcerptChoice | None:
    """The choice where a recording is too long to be searched whole; else None."""
    if all(one.survey is None for one in workload.recordings):
        return None

    def search(searched: Sequence[LoadedTrace], progress: Progress) -> Choice:
        return _choose(workload, searched, progress)

    return choose_by_excerpts(workload, search, progress.part("choose"))


def _choose(workload: Workload, searched: Sequence[LoadedTrace], progress: Progress) -> Choice:
    request, names = workload.request, [one.name for one in workload.recordings]
    with Sweep() if request.sweep is None else nullcontext(request.sweep) as sweep:
        if len(searched) == 1:
            return choose_for_one(searched[0], names[0], request.options, progress, sweep)
        return choose_for_several(searched, names, request.options, progress, sweep)
