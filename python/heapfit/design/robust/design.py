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

from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.changed_programs import ChangedPrograms
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.verdict import select_row
from heapfit.comparison.work import Work, total_work
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.jobs import Replays, TraceSet, make_folds
from heapfit.design.robust.rows import RowJudge, all_rows, rows_for_choice, split_hopeless
from heapfit.errors import HeapfitError
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.trace.content import content_hash
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.stored import Trace

MOST_FOLDS = 8  # of the holdout check


@dataclass(frozen=True, slots=True)
class RobustOptions(PlanOptions):
    """Options of a design for several traces."""

    is_for_choice: bool = False  # by the largest region; other rows are less complete: rows.py
    is_of_all: bool = False  # candidates that cannot need the least memory are measured, too
    pools: bool = False  # plans whose blocks are counted on the traces may be chosen


def design_robust(
    traces: Sequence[Trace],
    options: RobustOptions | None = None,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
) -> Comparison:
    """Makes and measures every candidate; HeapfitError with fewer than two traces."""
    options = options or RobustOptions()
    contents = tuple(content_hash(trace) for trace in traces)
    return _design_runs(TraceSet(traces, contents), options, progress, sweep)


def design_loaded(
    recordings: Sequence[LoadedTrace],
    options: RobustOptions,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
) -> Comparison:
    """Makes and measures every candidate from recordings that are loaded already.

    The choice, of a heap for all of them, is tried on changes of their program.
    """
    traces = [recording.trace for recording in recordings]
    contents = tuple(recording.content for recording in recordings)
    peaks = tuple(recording.profile.u_max for recording in recordings)
    runs = TraceSet(traces, contents, peaks)
    programs = ChangedPrograms.from_recordings(recordings)
    return _design_runs(runs, options, progress, sweep, programs)


def _design_runs(
    runs: TraceSet,
    options: RobustOptions,
    progress: Progress,
    sweep: Sweep | None,
    programs: ChangedPrograms | None = None,
) -> Comparison:
    traces, sweep = runs.traces, sweep or Sweep(workers=1)
    if len(traces) < 2:
        raise HeapfitError("a design for several traces takes two at least")
    folds = count_folds(len(traces))
    every = tuple(range(len(traces)))
    parted = [_split_traces(every, part, folds) for part in range(folds)]
    whole, *parts = make_folds(runs, [(every, ()), *parted], options, sweep, progress)
    replays = Replays(runs, [whole, *parts], sweep, progress)
    candidates, hopeless = list(whole.portfolio.candidates), list[NotApplicable]()
    if not options.is_of_all:
        candidates, hopeless = split_hopeless(candidates, replays)
    judge = RowJudge(whole, parts, replays, len(traces))
    designs = Comparison(
        trace=whole.joined,
        u_max=max(replays.u_max),
        base_alignment=replays.base_alignment,
        peaks=replays.u_max,
        content=whole.content,
        rows=(),
        not_applicable=(*filter(_is_worth_listing, whole.portfolio.not_applicable), *hopeless),
    )
    designs = _settle_rows(designs, candidates, judge, options, programs)
    tried = Work(changed=sum(one.changes.events for one in designs.rows if one.changes))
    made = (fold.portfolio.work for fold in (whole, *parts))
    work = total_work([replays.work, tried, *made])
    return replace(designs, work=work)


def _settle_rows(
    designs: Comparison,
    candidates: Sequence[Candidate],
    judge: RowJudge,
    options: RobustOptions,
    programs: ChangedPrograms | None,
) -> Comparison:
    """The designs with their rows, of which the choice is tried on changed programs, if given.

    Where that raises its margin or forbids to advise it, so is the next choice.
    """
    make_rows = rows_for_choice if options.is_for_choice else all_rows
    tried: dict[str, ChangeTest] = {}
    while True:
        rows = make_rows(candidates, replace(judge, tried=tried))
        designs = replace(designs, rows=tuple(rows))
        row = select_row(designs, options.pools)
        if programs is None or row.r_safe is None or row.name in tried:
            return designs
        tried[row.name] = programs.test(row.heap, row.r_safe, row.known)


def count_folds(traces: int) -> int:
    """The folds of the holdout check of so many traces."""
    return min(MOST_FOLDS, traces)


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
