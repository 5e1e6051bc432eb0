# SPDX-License-Identifier: Apache-2.0
"""Options of a generated folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, ignore_progress


@dataclass(frozen=True, slots=True)
class GenerateOptions:
    """The options of a generated heap."""

    platforms: tuple[str, ...] = ()  # that it gets files for (heapfit.plan.targets)
    counts: bool = False  # it keeps what calls have done
    is_given: bool = False  # the program hands the region over when the heap is made
    region: int | None = None  # bytes, for which nothing was tried; None: the plan's
    threads: int = 1  # that compilers run in; the folder is the same
    records: bool = False  # it records each call, and so counts
    # Is given the folder before it takes its place; may raise.
    inspect: Callable[[Path], None] | None = None
    progress: Progress = ignore_progress  # of the compilers


DEFAULT_OPTIONS = GenerateOptions()


def region_warning(plan_file: PlanFile, region: int | None) -> str | None:
    """A warning about a region in which the recordings do not run, else None."""
    if region is None or plan_file.r_safe is None or region >= plan_file.r_safe:
        return None
    return f"the recordings needed a region of {plan_file.r_safe:,} B; {region:,} B are too few"
