# SPDX-License-Identifier: Apache-2.0
"""Plans made from several traces of a program, and measured on hold-out traces.

Each candidate is made twice over: from all traces, which is the plan to use, and from all but one
fold, to be measured on that fold's traces, which are its hold-out traces:

    made from    2 3 4 5 6    1 3 4 5 6 ...          region: the largest that these need
    measured on  1            2          ...          R_safe, and a replay in region x (1 + margin)

What decides is the region that hold-out traces need. The region itself is one more
thing that is trained, so plain allocators go through the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heapfit import _engine
from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.margin import HeapSize, MarginBasis, heap_size
from heapfit.comparison.verdict import are_pools_worth_it
from heapfit.comparison.work import NO_WORK, Work, total_work
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.jobs import Replays, TraceSet, make_folds
from heapfit.design.robust.row import RobustRow
from heapfit.design.robust.rows import RowJudge, all_rows, rows_for_choice, split_hopeless
from heapfit.errors import HeapfitError
from heapfit.plan.plan_file import PlanFile, TrainingRecord, TrainingTrace, file_name, save_plan
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.stored import Trace, TraceInfo

MOST_FOLDS = 8  # of the holdout check
_LEAST_SAVED = 100  # pools have to save this part of U_max on each hold-out trace


@dataclass(frozen=True, slots=True)
class RobustOptions(PlanOptions):
    """Options of a design for several traces."""

    is_for_choice: bool = False  # by the largest region; other rows are less complete: rows.py
    is_of_all: bool = False  # candidates that cannot need the least memory are measured, too
    pools: bool = False  # plans whose blocks are counted on the traces may be chosen: `choose`


@dataclass(frozen=True, slots=True)
class RobustDesigns:
    """Candidates ranked by the region that hold-out traces need, smallest first."""

    recordings: int
    folds: int
    u_max: tuple[int, ...]  # of each trace, in bytes
    base_alignment: int
    joined: TraceInfo
    content: str  # hash of the joined traces
    contents: tuple[str, ...]  # and of each
    rows: tuple[RobustRow, ...]
    not_applicable: tuple[NotApplicable, ...]
    work: Work = NO_WORK  # of all this, that of cached results included

    @property
    def safest(self) -> RobustRow | None:
        """The row of the least region in which no hold-out trace ran out of memory."""
        safe = [row for row in self.rows if row.safe_region is not None]
        return min(safe, key=lambda row: row.safe_region or 0, default=None)

    @property
    def without_pools(self) -> RobustRow | None:
        """The best row that reserves no blocks; a trace-specific one if all are."""
        plain = [row for row in self.rows if not row.is_cut]
        return next((row for row in plain if not row.is_trace_specific), next(iter(plain), None))

    @property
    def chosen(self) -> RobustRow:
        """The row to use, unless a user asks for pools: see `choose`."""
        return self.choose()

    def choose(self, pools_asked: bool = False) -> RobustRow:
        """The first row whose pools pass on hold-out traces, else the best row without pools.

        Pools have to hold on each trace that they were made without, and to save a hundredth of
        its U_max there. Where they are asked for, closing a part of the gap is enough.
        """
        plain = self.without_pools
        if plain is None:
            return self.rows[0]
        taken = self._is_worth_it if pools_asked else self._holds
        before = self.rows[: self.rows.index(plain)]
        pools = (row for row in before if row.is_cut and not row.is_trace_specific)
        return next((row for row in pools if taken(row, plain)), plain)

    def _is_worth_it(self, row: RobustRow, plain: RobustRow) -> bool:
        return are_pools_worth_it(row.needed, plain.needed, max(self.u_max))

    def _holds(self, row: RobustRow, plain: RobustRow) -> bool:
        if not row.held or not all(row.held):
            return False
        needs = zip(row.unseen_regions, plain.unseen_regions, self.u_max, strict=True)
        return all(
            pools is not None and (heap is None or pools + u_max / _LEAST_SAVED <= heap)
            for pools, heap, u_max in needs
        )

    def basis(self, row: RobustRow) -> MarginBasis:
        """The recordings, peak and kind that the row's margin rests on."""
        return row.basis(self.recordings, max(self.u_max))

    def heap_size(
        self, row: RobustRow, peak: int | None = None, margin: float | None = None
    ) -> HeapSize | None:
        """The heap size to set for a row; None if no region serves the traces."""
        return None if row.region is None else heap_size(row.region, self.basis(row), peak, margin)

    @property
    def best_plain(self) -> RobustRow | None:
        """The best row that was not trained on the traces."""
        return next((row for row in self.rows if not row.is_trained), None)


def design_robust(
    traces: Sequence[Trace],
    options: RobustOptions | None = None,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
) -> RobustDesigns:
    """Makes and measures every candidate; HeapfitError with fewer than two traces."""
    options = options or RobustOptions()
    _require_several(traces)
    contents = tuple(content_hash(trace) for trace in traces)
    return _design_runs(TraceSet(traces, contents), options, progress, sweep)


def design_loaded(
    recordings: Sequence[LoadedTrace],
    options: RobustOptions,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
) -> RobustDesigns:
    """Makes and measures every candidate from recordings that are loaded already.

    The choice, of a heap for all of them, is tried on changes of their program.
    """
    _require_several(recordings)
    traces = [recording.trace for recording in recordings]
    contents = tuple(recording.content for recording in recordings)
    peaks = tuple(recording.profile.u_max for recording in recordings)
    runs = TraceSet(traces, contents, peaks)
    programs = ChangedPrograms.from_recordings(recordings)
    return _design_runs(runs, options, progress, sweep, programs)


def _require_several(recordings: Sequence[object]) -> None:
    if len(recordings) < 2:
        raise HeapfitError("a design for several traces takes two at least")


def _design_runs(
    runs: TraceSet,
    options: RobustOptions,
    progress: Progress,
    sweep: Sweep | None,
    programs: ChangedPrograms | None = None,
) -> RobustDesigns:
    traces, sweep = runs.traces, sweep or Sweep(workers=1)
    folds = min(MOST_FOLDS, len(traces))
    every = tuple(range(len(traces)))
    parted = [_split_traces(every, part, folds) for part in range(folds)]
    whole, *parts = make_folds(runs, [(every, ()), *parted], options, sweep, progress)
    replays = Replays(runs, [whole, *parts], sweep, progress)
    candidates, hopeless = list(whole.portfolio.candidates), list[NotApplicable]()
    if not options.is_of_all:
        candidates, hopeless = split_hopeless(candidates, replays)
    judge = RowJudge(whole, parts, replays, len(traces))
    designs = RobustDesigns(
        recordings=len(traces),
        folds=len(parts),
        u_max=replays.u_max,
        base_alignment=replays.base_alignment,
        joined=whole.joined,
        content=whole.content,
        contents=runs.contents,
        rows=(),
        not_applicable=(*filter(_is_worth_listing, whole.portfolio.not_applicable), *hopeless),
    )
    designs = _settle_rows(designs, candidates, judge, options, programs)
    tried = Work(changed=sum(one.changes.events for one in designs.rows if one.changes))
    made = (fold.portfolio.work for fold in (whole, *parts))
    work = total_work([replays.work, tried, *made])
    return replace(designs, work=work)


def _settle_rows(
    designs: RobustDesigns,
    candidates: Sequence[Candidate],
    judge: RowJudge,
    options: RobustOptions,
    programs: ChangedPrograms | None,
) -> RobustDesigns:
    """The designs with their rows, of which the choice is tried on changed programs, if given.

    Where that raises its margin or forbids to advise it, so is the next choice.
    """
    make_rows = rows_for_choice if options.is_for_choice else all_rows
    tried: dict[str, ChangeTest] = {}
    while True:
        rows = make_rows(candidates, replace(judge, tried=tried))
        designs = replace(designs, rows=tuple(rows))
        row = designs.choose(options.pools)
        if programs is None or row.region is None or row.name in tried:
            return designs
        tried[row.name] = programs.test(Heap(row.name, row.plan), row.region, designs.basis(row))


def _split_traces(
    every: tuple[int, ...], part: int, folds: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The traces that a fold sees, and its hold-out traces."""
    return (
        tuple(i for i in every if i % folds != part),
        tuple(i for i in every if i % folds == part),
    )


def _is_worth_listing(entry: NotApplicable) -> bool:
    """True unless it only says that two settings of a grid are one plan."""
    return entry.same_as is None or ":" not in entry.name


def save_robust_plans(
    designs: RobustDesigns, trained_on: TrainingRecord, folder: Path
) -> tuple[Path, ...]:
    """Writes a plan file of each row, NAME.toml, into a folder that exists; returns their paths."""
    paths = tuple(folder / f"{file_name(row.name)}.toml" for row in designs.rows)
    for row, path in zip(designs.rows, paths, strict=True):
        save_plan(path, robust_plan_file(row, designs, trained_on))
    return paths


def joint_training_record(
    designs: RobustDesigns, names: Sequence[str], events: int
) -> TrainingRecord:
    """The record, in a plan file, of the traces that its plan was made from; all their events."""
    name = f"{names[0]}-and-{len(names) - 1}-more"
    seen = (TrainingTrace(*one) for one in zip(names, designs.contents, strict=True))
    return TrainingRecord(name, designs.content, events, designs.joined.kind, tuple(seen))


def robust_plan_file(
    row: RobustRow, designs: RobustDesigns, trained_on: TrainingRecord, size: HeapSize | None = None
) -> PlanFile:
    """A row's plan and figures as a plan file; `size` overrides the row's own heap size."""
    size = size or designs.heap_size(row)
    return PlanFile(
        name=file_name(row.name),
        plan=row.plan,
        region=None if size is None else size.region,
        r_safe=row.region,
        peak=None if size is None else size.peak,
        margin=None if size is None else size.margin,
        r_min=None,
        base_alignment=designs.base_alignment,
        u_max=max(designs.u_max),
        pointer_bits=designs.joined.pointer_bits,
        trained_on=trained_on,
        heapfit_version=_engine.version,
    )
