# SPDX-License-Identifier: Apache-2.0
"""A selection assessed: beside heaps that its reader knows, and on runs that took no part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from heapfit.comparison.margin import HeapSize
from heapfit.comparison.work import Work
from heapfit.fitting.excerpt_search import ExcerptInfo
from heapfit.fitting.holdout import HoldoutResult, check_holdout
from heapfit.fitting.reference_heaps import ReferenceRow, Standing, measure_reference_heaps
from heapfit.fitting.selection import Selection
from heapfit.fitting.suggestions import suggest_next_recordings
from heapfit.progress import WeightedProgress


@dataclass(frozen=True, slots=True)
class Assessment:
    """What is known of a selection beside what it was selected by."""

    selection: Selection
    suggestions: tuple[str, ...]  # what would make the answer more certain, each a few words
    references: tuple[ReferenceRow, ...]  # incumbent and fitted heap first, then others
    holdout: HoldoutResult
    work: Work  # that selection and assessment took


def assess(selection: Selection, progress: WeightedProgress) -> Assessment:
    """Nothing of the selection changes."""
    choice, searched, needs = selection.choice, selection.searched, selection.needs
    request, recordings = selection.workload.request, selection.workload.recordings
    suggestions, suggesting = suggest_next_recordings(
        choice, request.options, progress.part("suggest")
    )
    rows, referring = measure_reference_heaps(
        choice, searched, needs, progress.part("reference", steps=2)
    )
    holdout = check_holdout(choice, recordings, searched, progress.part("hold"), request.threads)
    excerpt, replayed = selection.excerpt, 0
    if excerpt is not None:
        rows, replayed = _mark_excerpt_rows(rows, excerpt, choice.answer.size), excerpt.replayed
    beside = referring + suggesting + (0 if needs is None else needs.events)
    work = choice.comparison.work + Work(beside=beside, judged=holdout.events + replayed)
    return Assessment(selection, suggestions, rows, holdout, work)


def _mark_excerpt_rows(
    references: Sequence[ReferenceRow], excerpt: ExcerptInfo, size: HeapSize
) -> tuple[ReferenceRow, ...]:
    """The rows, of which the answer alone was replayed on the whole.

    Where that raised it, the answer's heap on the excerpt is one more row, to compare with.
    """
    rows: list[ReferenceRow] = []
    for row in references:
        is_fitted = row.standing is Standing.FITTED
        rows.append(replace(row, is_of_excerpt=not is_fitted))
        if is_fitted and excerpt.is_raised:
            region = replace(size, r_safe=excerpt.r_safe).region
            over = region / max(size.peak, 1)
            of_part = replace(row, standing=Standing.OTHER, region=region, over_peak=over)
            rows.append(replace(of_part, is_of_excerpt=True))
    return tuple(rows)
