# SPDX-License-Identifier: Apache-2.0
"""The assessment of a selection: reference heaps, and runs that took no part in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from heapfit.comparison.work import Work
from heapfit.fitting.holdout import HoldoutResult, check_holdout
from heapfit.fitting.longer_runs import find_margin_for, forecast_longer_runs
from heapfit.fitting.recording_kinds import FitKinds, find_kinds
from heapfit.fitting.reference_heaps import ReferenceRow, measure_reference_heaps
from heapfit.fitting.selection import Selection, decide_again
from heapfit.fitting.suggestions import suggest_next_recordings
from heapfit.fitting.workload import Request
from heapfit.forecast.horizon import LongerRunTable

_REFERENCES = 8  # steps, about: of heaps to measure and of costs


@dataclass(frozen=True, slots=True)
class Assessment:
    """A selection with its reference heaps, holdout check and suggestions."""

    selection: Selection
    suggestions: tuple[str, ...]  # what would make the answer more certain, each a few words
    references: tuple[ReferenceRow, ...]  # incumbent and fitted heap first, then others
    holdout: HoldoutResult
    kinds: FitKinds
    longer: LongerRunTable
    work: Work  # that selection and assessment took


def extend_to_horizon(selection: Selection, request: Request) -> tuple[Selection, Request]:
    """Both with the margin for the horizon that is asked for, where that is known and more.

    A margin that is given stands, and so does the fitted plan.
    """
    options = request.options
    if options.horizon is None or options.margin is not None:
        return selection, request
    margin = find_margin_for(selection, _find_kinds(selection, request), options.horizon)
    if margin is None:
        return selection, request
    options = replace(options, margin=margin)
    return decide_again(selection, options), replace(request, options=options)


def _find_kinds(selection: Selection, request: Request) -> FitKinds:
    return find_kinds(
        [(one.trace, one.read.profile) for one in selection.workload.recordings],
        selection.choice.shown.trace,
        selection.choice.answer.size,
        request.options.programs,
    )


def assess(selection: Selection, request: Request) -> Assessment:
    """Assesses a selection, which does not change."""
    choice = selection.choice
    recordings = selection.workload.recordings
    kinds = _find_kinds(selection, request)
    stages = request.stages
    suggestions, suggested = suggest_next_recordings(
        choice, request.options, stages.part("suggest")
    )
    referring = stages.part("reference", steps=_REFERENCES)
    rows, referred = measure_reference_heaps(selection, request.options, referring)
    holdout = check_holdout(choice, recordings, selection.searched, stages.part("hold"))
    longer = forecast_longer_runs(selection, kinds, request.options.horizon)
    replayed = 0 if selection.excerpt is None else selection.excerpt.replayed
    beside = referred + suggested + selection.baselines.events
    tested = None if selection.today is None else selection.today.changes
    changed = 0 if tested is None else tested.events
    assessed = Work(
        beside=beside, judged=holdout.events + longer.events + replayed, changed=changed
    )
    work = choice.comparison.work + assessed
    return Assessment(selection, suggestions, rows, holdout, kinds, longer, work)
