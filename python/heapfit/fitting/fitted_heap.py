# SPDX-License-Identifier: Apache-2.0
"""A fit as `import heapfit` returns it; nothing is written until `write` is called."""

from __future__ import annotations

import os
import shutil
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa

from heapfit.checks.check import Check, CheckOptions, Source, check_recordings
from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.incumbents.heap import find_heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.margin import adapt_basis
from heapfit.comparison.row import Row, row_table
from heapfit.errors import HeapfitError
from heapfit.fitting.choice import compute_size
from heapfit.fitting.fit import WritePage, find_fit, watch_fit, write_fit
from heapfit.fitting.folder import FitPaths, stage_results
from heapfit.fitting.options import FitOptions
from heapfit.fitting.result import Fit, Run, save_plans
from heapfit.fitting.selection import foretell
from heapfit.fitting.workload import Place, Request
from heapfit.forecast.kind import RecordingKind
from heapfit.importers.many import list_recordings
from heapfit.outputs.folder import stage_folder
from heapfit.outputs.scratch import claim_folder, drop
from heapfit.plan.plan_file import PlanFile, require_unedited
from heapfit.progress import Progress, WeightedProgress, ignore_progress
from heapfit.sweep import usable_cores
from heapfit.trace.loaded import load_trace
from heapfit.trace.stored import Trace
from heapfit.trace.tabular import Tabular


@dataclass(frozen=True, slots=True, weakref_slot=True, repr=False)
class FittedHeap(Tabular):
    """One heap for all recordings. Its rows are the candidates, ranked. Sizes in bytes."""

    found: Fit
    home: Path  # of the traces that were imported; deleted with this record
    write_page: WritePage | None = None  # None: no page is written

    def __str__(self) -> str:
        size = self.found.answer.size
        return (
            f"{self.found.name}: set the heap to {self.region:,} B, {size.peak:,} B live at most; "
            f"{self.plan.name}"
        )

    def to_arrow(self) -> pa.Table:
        """The candidates on the recording that needs the largest region, ranked."""
        return row_table(self.rows)

    @property
    def region(self) -> int:
        """The region to set, margin included."""
        answer = self.found.answer
        return answer.heap.set_to(answer.size.region)

    @property
    def plan(self) -> PlanFile:
        """The plan that was chosen, as `write` writes it."""
        return self.found.plan_file

    @property
    def rows(self) -> tuple[Row, ...]:
        """Every candidate, ranked."""
        return self.found.comparison.rows

    @property
    def runs(self) -> tuple[Run, ...]:
        """What the plan needs on each recording."""
        return self.found.runs

    @property
    def kind(self) -> RecordingKind:
        """The kind of the first recording that grows, else of the one that needs most."""
        return self.found.kinds.shown

    @property
    def changes(self) -> ChangeTest | None:
        """The heap that is set, tried on changed programs (docs/margin.md)."""
        return self.found.changes

    @property
    def verdict(self) -> str:
        """One sentence with the figures that decided."""
        return self.found.verdict

    @property
    def warnings(self) -> tuple[str, ...]:
        """What limits the answer, each one sentence."""
        return self.found.warnings

    def saving_over(self, heap: str, progress: Progress = ignore_progress) -> int:
        """Bytes less than a system's heap needs, each with its own margin; below 0: more.

        `heap` is a name that `fit --now` takes, such as heap_4, lwip-mem or newlib-nano. Its
        rule is replayed on every recording. HeapfitError if it serves one of them in no region.
        """
        now = find_heap(heap, self.found.options.alignment)
        needs = measure(
            now, [Trace.open(path) for path in self.found.paths.traces], progress=progress
        )
        known = adapt_basis(self.found.answer.known, needs.heap.plan)
        size = compute_size(needs.require_most(), known, self.found.options)
        return needs.heap.set_to(size.region) - self.region

    def check(
        self,
        sources: Source | str | Sequence[Source | str],
        options: CheckOptions | None = None,
        progress: Progress = ignore_progress,
    ) -> Check:
        """Checks other recordings in the plan's region: which run, and what of them grew."""
        return check_recordings(sources_of(sources), self.plan, options, progress)

    def write(self, folder: Path | str, progress: Progress = ignore_progress) -> FitPaths:
        """Writes plan, code, report and imported traces, as `heapfit fit` does; returns where.

        The folder appears whole or not at all. HeapfitError if it holds a plan or code that was
        edited.
        """
        folder = Path(folder)
        with stage_results(folder) as staging:
            placed = self._place_in(folder)
            for path in self.found.paths.traces:
                if path.parent == self.home:
                    shutil.copyfile(path, staging / path.name)
            shown = load_trace(self.found.searched, self.found.options.alignment, progress)
            stages = WeightedProgress(progress, foretell([len(shown.events)]))
            write_fit(
                placed,
                staging,
                shown=shown,
                write_page=self.write_page,
                stages=stages,
                threads=usable_cores(),
            )
        return placed.paths

    def write_plans(self, folder: Path | str) -> list[Path]:
        """Writes every candidate as a plan file, as `heapfit fit --plans` does; returns where.

        Those whose region was not searched, as `whole` is False, are without one.
        """
        with stage_folder(Path(folder), require_unedited) as staging:
            paths = save_plans(self.found, staging)
        return [Path(folder) / path.name for path in paths]

    def _place_in(self, folder: Path) -> Fit:
        """The fit with the paths that its parts have in a folder."""

        def move_path(path: Path) -> Path:
            return folder / path.name if path.parent == self.home else path

        old = self.found.paths
        traces = tuple(map(move_path, old.traces))
        return replace(
            self.found,
            trace=replace(self.found.trace, path=move_path(self.found.trace.path)),
            searched=replace(self.found.searched, path=move_path(self.found.searched.path)),
            paths=FitPaths.in_folder(
                folder, traces, has_code=old.code is not None, has_page=old.report is not None
            ),
        )


def fit_heap(
    sources: Source | str | Sequence[Source | str],
    options: FitOptions | None = None,
    progress: Progress = ignore_progress,
    write_page: WritePage | None = None,
) -> FittedHeap:
    """Fits one heap to all sources; files that are no traces are imported into a new folder."""
    paths = [source.path if isinstance(source, Trace) else source for source in sources_of(sources)]
    home, lock = claim_folder()
    try:
        stages = watch_fit(paths, progress)
        request = Request(Place(home, home), options or FitOptions(), stages=stages)
        found, _ = find_fit(paths, request, has_page=write_page is not None)
    except BaseException:
        drop(home, lock)
        raise
    fitted = FittedHeap(found, home, write_page)
    weakref.finalize(fitted, drop, home, lock)
    return fitted


def sources_of(given: Source | str | Sequence[Source | str]) -> list[Source]:
    """One source or several as a list, names as paths.

    >>> sources_of("run.heap"), sources_of([Path("a"), "b"])
    ([PosixPath('run.heap')], [PosixPath('a'), PosixPath('b')])
    """
    several = [given] if isinstance(given, Trace | str | os.PathLike) else given
    if not isinstance(several, Sequence):
        raise HeapfitError(f"{given!r} is no recording (give a trace, a path, or a list of them)")
    for one in several:
        if not isinstance(one, Trace | str | os.PathLike):
            raise HeapfitError(f"{one!r} is no recording (give a trace or a path)")
    if not several:
        raise HeapfitError("no recording is given (give one or more)")
    listed = [[one] if isinstance(one, Trace) else list_recordings([one]) for one in several]
    return [one for some in listed for one in some]
