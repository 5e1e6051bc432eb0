# SPDX-License-Identifier: Apache-2.0
"""The candidates that a fit compared: as plan files, and their Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heapfit.comparison.comparison import Comparison
from heapfit.comparison.costs.measures import Measure
from heapfit.comparison.row import rank_rows
from heapfit.design.front.design_front import ALL_MEASURES, Front, front_of
from heapfit.design.plan_files import save_candidates
from heapfit.design.robust.design import save_robust_plans
from heapfit.errors import HeapfitError
from heapfit.fitting.result import Fit
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace


def rank_by_memory(fitted: Fit) -> Comparison:
    """The comparison on the shown recording, ranked by memory whatever was preferred."""
    return replace(fitted.comparison, rows=rank_rows(fitted.comparison.rows))


def save_plans(fitted: Fit, folder: Path) -> tuple[Path, ...]:
    """Writes every candidate as a plan file to an existing folder, least memory first.

    HeapfitError if it was compared on an excerpt, whose regions are not those of the whole.
    """
    _require_whole(fitted)
    trained_on = fitted.plan_file.trained_on
    if fitted.designs is not None:
        return save_robust_plans(fitted.designs, trained_on, folder)
    return save_candidates(rank_by_memory(fitted), trained_on, folder)


def front_of_fit(
    fitted: Fit,
    loaded: LoadedTrace,
    by: Sequence[Measure] = ALL_MEASURES,
    progress: Progress = ignore_progress,
) -> Front:
    """The front of what was compared on one recording; `loaded` is what was searched of it.

    HeapfitError for several recordings, and as for plans.
    """
    _require_whole(fitted)
    if fitted.designs is not None:
        raise HeapfitError("a front is of one recording")
    return front_of(rank_by_memory(fitted), loaded, by, fitted.options.sram, progress)


def _require_whole(fitted: Fit) -> None:
    if fitted.excerpt is not None:
        raise HeapfitError(
            f"{fitted.name}: was searched by an excerpt, whose regions are not the whole's "
            "(set most_events above its events)"
        )
