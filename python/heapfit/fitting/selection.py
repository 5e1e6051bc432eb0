# SPDX-License-Identifier: Apache-2.0
"""The plan for a workload, or the incumbent heap where that does as well."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.fitting.choice import Choice, choose_for_one, choose_for_several
from heapfit.fitting.excerpt_search import ExcerptInfo, choose_by_excerpts
from heapfit.fitting.incumbent import compare_incumbent, keep_incumbent, measure_incumbent
from heapfit.fitting.workload import Request, Workload
from heapfit.progress import Progress, WeightedProgress
from heapfit.sweep import Sweep
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile


@dataclass(frozen=True, slots=True)
class Selection:
    """The plan selected for a workload; later stages do not change it."""

    workload: Workload
    searched: tuple[LoadedTrace, ...]  # each recording, or its excerpt
    choice: Choice
    profile: Profile  # of the whole recording that is shown
    excerpt: ExcerptInfo | None  # where a recording is too long to be searched whole
    needs: Needs | None  # of the incumbent heap, where it was named
    today: IncumbentVerdict | None  # that heap compared with the plan

    @property
    def has_plan(self) -> bool:
        """True unless the incumbent heap is kept."""
        return self.choice.answer.kept is None


def select_plan(
    workload: Workload,
    request: Request,
    incumbent: SystemHeap | None,
    progress: WeightedProgress,
) -> Selection:
    """Selects the plan that serves all recordings in the least memory, or the incumbent."""

    def search(searched: Sequence[LoadedTrace], progress: Progress) -> Choice:
        return _choose(workload.names, searched, request, progress)

    excerpts = needs = today = None
    searched, choosing = workload.loaded, progress.part("choose")
    if len(searched) < len(workload.recordings):
        excerpts = choose_by_excerpts(workload, request, search, choosing)
        searched = excerpts.searched
    if incumbent is not None:
        needs = measure_incumbent(incumbent, searched, progress.part("now"))
    choice = search(searched, choosing) if excerpts is None else excerpts.choice
    if needs is not None:
        today = compare_incumbent(needs, workload.recordings, searched, choice, request.options)
        choice = keep_incumbent(choice, today, request.options)
    if excerpts is None:
        return Selection(workload, searched, choice, choice.shown.profile, None, needs, today)
    info = replace(excerpts.info, is_kept=choice.answer.kept is not None)
    return Selection(workload, searched, choice, excerpts.profile, info, needs, today)


def _choose(
    names: Sequence[str], searched: Sequence[LoadedTrace], request: Request, progress: Progress
) -> Choice:
    with Sweep() if request.sweep is None else nullcontext(request.sweep) as sweep:
        if len(searched) == 1:
            return choose_for_one(searched[0], names[0], request.options, progress, sweep)
        return choose_for_several(searched, names, request.options, progress, sweep)
