# SPDX-License-Identifier: Apache-2.0
"""The plan for a workload, or the heap that the program or many have where that does as well."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

from heapfit.comparison.incumbents.needs import Needs
from heapfit.comparison.incumbents.replacement import IncumbentVerdict
from heapfit.comparison.incumbents.system_heap import SystemHeap
from heapfit.fitting.choice import Choice, ChoiceInputs, choose_for_one
from heapfit.fitting.excerpt_search import ExcerptInfo, choose_by_excerpts
from heapfit.fitting.incumbent import (
    Baselines,
    compare_baselines,
    keep_incumbent,
    measure_baselines,
)
from heapfit.fitting.joint_choice import choose_for_several
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
    baselines: Baselines
    today: IncumbentVerdict | None  # one of them compared with the plan


def select_plan(
    workload: Workload, request: Request, named: SystemHeap | None, progress: WeightedProgress
) -> Selection:
    """Selects the plan that serves all recordings in the least memory, or a heap there is.

    `named`: the incumbent that a user names. Of excerpts no heap but the program's own is kept,
    since others would not be tried on the whole.
    """
    systems: tuple[Needs, ...] = ()

    def search(searched: Sequence[LoadedTrace], progress: Progress) -> Choice:
        return _choose(workload.names, searched, request, systems, progress)

    excerpts = None
    searched, choosing = workload.loaded, progress.part("choose")
    if len(searched) < len(workload.recordings):
        excerpts = choose_by_excerpts(workload, request, search, choosing)
        searched = excerpts.searched
    baselines = measure_baselines(workload, searched, request, named, progress.part("now"))
    systems = baselines.needs
    choice = search(searched, choosing) if excerpts is None else excerpts.choice
    today = None
    if baselines.needs and (excerpts is None or baselines.is_known):
        recordings, options = workload.recordings, request.options
        today = compare_baselines(baselines, recordings, searched, choice, options)
    if today is not None:
        choice = keep_incumbent(choice, today, request.options)
    if excerpts is None:
        profile, info = choice.shown.profile, None
    else:
        info = replace(excerpts.info, is_kept=choice.answer.kept is not None)
        profile = excerpts.profile
    return Selection(workload, searched, choice, profile, info, baselines, today)


def _choose(
    names: Sequence[str],
    searched: Sequence[LoadedTrace],
    request: Request,
    systems: Sequence[Needs],
    progress: Progress,
) -> Choice:
    options = request.options
    with Sweep() if request.sweep is None else nullcontext(request.sweep) as sweep:
        inputs = ChoiceInputs(sweep, systems)
        if len(searched) == 1:
            return choose_for_one(searched[0], names[0], options, progress, inputs)
        return choose_for_several(searched, names, options, progress, inputs)
