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

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from heapfit.comparison.candidate import Portfolio
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.work import total_work
from heapfit.design.placement.tailored_plans import TWO_ENDS, find_layout
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import split_applicable
from heapfit.design.robust.jobs import Fold, ReplayCache, make_folds
from heapfit.design.robust.rows import RowJudge, drop_hopeless
from heapfit.forecast.load import Load
from heapfit.progress import Progress, ignore_progress
from heapfit.sweep import Sweep
from heapfit.trace.loaded import STANDARD_ALIGNMENT, LoadedTrace

MOST_FOLDS = 8  # of the holdout check

# The same rows, ranked, with what is missing of those that may be chosen now.
Complete: TypeAlias = Callable[[Comparison], Comparison]


def design_several(
    recordings: Sequence[LoadedTrace],
    options: PlanOptions,
    *,
    sweep: Sweep | None = None,
    is_whole: bool = False,
    is_of_all: bool = False,
    progress: Progress = ignore_progress,
) -> tuple[Comparison, Complete]:
    """Makes every candidate of two recordings or more, and measures what decides the choice.

    Of the others only the largest region is known, unless `is_whole` (rows.py). Those that cannot
    need the least memory are left out, unless `is_of_all`. Then what completes the rows if trials
    of the first ones change their order.
    """
    traces, count, sweep = [one.trace for one in recordings], len(recordings), sweep or Sweep(1)
    every, folds = range(count), count_folds(count)
    parted = [
        ([i for i in every if i % folds != part], [i for i in every if i % folds == part])
        for part in range(folds)
    ]
    (whole,) = make_folds(recordings, [([*every], [])], options, sweep, progress)
    parts = make_folds(recordings, parted, _learn_again(options, whole), sweep, progress)
    alignments = [
        one.plan.alignment for fold in (whole, *parts) for one in fold.portfolio.candidates
    ]
    replays = ReplayCache(
        traces,
        Load.of([one.foretelling for one in recordings]),
        base_alignment=max([*alignments, *(trace.largest_alignment for trace in traces)]),
        sweep=sweep,
        progress=progress,
    )
    replays.take_known(whole.portfolio.candidates, recordings)
    portfolio = _list_candidates(whole, replays, is_of_all=is_of_all, is_whole=is_whole)
    judge = RowJudge(whole, parts, replays, is_whole=is_whole)
    designs = Comparison(
        trace=whole.joined,
        u_max=replays.load.u_max,
        base_alignment=replays.base_alignment,
        rows=judge.rank(portfolio.candidates),
        not_applicable=portfolio.not_applicable,
        work=total_work(fold.portfolio.work for fold in (whole, *parts)),
        peaks=replays.load.peaks,
        content=whole.content,
    )
    return judge.complete(designs), judge.complete


def _learn_again(options: PlanOptions, whole: Fold) -> PlanOptions:
    """The options of plans without some traces: they learn what those of all have learned."""
    plan = whole.portfolio.plan(TWO_ENDS)
    if plan is None or options.alignment < STANDARD_ALIGNMENT:  # it has plans of both alignments
        return options
    climbs = any(one.name == TWO_ENDS for one in whole.portfolio.candidates)
    return replace(options, layout=find_layout(plan), climbs=climbs)


def _list_candidates(
    whole: Fold, replays: ReplayCache, *, is_of_all: bool, is_whole: bool
) -> Portfolio:
    """The candidates to measure; of those that do not apply, not that two settings are one plan."""
    left_out = (
        one for one in whole.portfolio.not_applicable if one.same_as is None or ":" not in one.name
    )
    portfolio = replace(whole.portfolio, not_applicable=tuple(left_out))
    if is_of_all:
        return portfolio
    kept = split_applicable(drop_hopeless(portfolio.candidates, replays, is_whole=is_whole))
    return replace(kept, not_applicable=(*portfolio.not_applicable, *kept.not_applicable))


def count_folds(traces: int) -> int:
    """The folds of the holdout check of so many traces."""
    return min(MOST_FOLDS, traces)
