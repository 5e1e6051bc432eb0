# SPDX-License-Identifier: Apache-2.0
"""What heaps need of parts of a service's recording that they did not learn from.

    recording    | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
    learned of     1   2   3   4 -> 5   6   7   8     each part is replayed by itself, but for the
                       2   3   4 <- 5   6   7   8     first: no run is without its start

The least of some twenty heaps on one recording is least in part by luck, and most so where the heap
learned from it. Longer runs take that back (docs/margin.md). A job has no such parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from heapfit.comparison.candidate import Portfolio
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.incumbents.heap import Heap
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import verdict_rows
from heapfit.comparison.work import Work
from heapfit.design.placement.tailored_plans import LEAST_POINTS
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import list_uncounted, split_applicable
from heapfit.forecast.load import Load
from heapfit.outputs.scratch import scratch_folder
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.excerpt import save_excerpt
from heapfit.trace.loaded import LoadedTrace, load_trace

PARTS: Final = 8
_LIVES: Final = 10  # events of a part for each block that is live at once: holes take long to form


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a recording, and plans learned of either half of it, made once asked for."""

    parts: tuple[LoadedTrace, ...]  # but for the first
    halves: tuple[LoadedTrace, ...]
    options: PlanOptions
    progress: Progress = ignore_progress
    learned: dict[int, Portfolio] = field(default_factory=dict)  # by the half

    def judge(self, table: Comparison, row: Row) -> Comparison:
        """The table with what a row needs of the parts, and whether its lead lasts there.

        A plan that learned has to save as much over the best that did not as any step of learning.
        """
        rival = next((one for one in verdict_rows(table) if not one.trained_on_this_trace), row)
        needs, work = self.measure(row)
        lasts = True
        if rival is not row and row.trained_on_this_trace:
            others, more = self.measure(rival)
            peaks, work = sum(one.profile.u_max for one in self.parts), work + more
            lasts = _total(others) - _total(needs) >= LEAST_POINTS / 100 * peaks
        judged = replace(row, parts=needs, lasts=lasts, work=row.work + work)
        return replace(table.with_row(judged), work=table.work + work)

    def measure(self, row: Row) -> tuple[tuple[int | None, ...], Work]:
        """What a row's plan needs of each part, made without it where it learns; and the work."""
        before = len(self.learned)
        heaps = [row.heap, row.heap]
        if row.trained_on_this_trace:
            heaps = [self._learn_without(one, row) for one in range(2)]
        found = [
            measure(heaps[i // (PARTS // 2)], [one], every_size=False)
            for i, one in enumerate(self.parts, 1)
        ]
        made = [one.work for one in [*self.learned.values()][before:]]
        work = sum(made, Work(regions=sum(one.events for one in found)))
        return tuple(one.most for one in found), work

    def _learn_without(self, half: int, row: Row) -> Heap:
        """The heap of a row as it is learned of the other half."""
        if half not in self.learned:
            other = self.halves[1 - half]
            made = list_uncounted(other, self.options, self.progress)
            self.learned[half] = split_applicable(made)
        plan = self.learned[half].plan(row.name)
        return row.heap if plan is None else replace(row.heap, plan=plan)


def cut_parts(
    recording: LoadedTrace, options: PlanOptions, progress: Progress = ignore_progress
) -> Parts | None:
    """The parts of a recording; None of one that is a job, or too short to be cut."""
    load, profile = Load.of([recording.profile]), recording.profile
    if load.is_job or load.is_start or profile.events < PARTS * _LIVES * profile.live_blocks_max:
        return None
    cuts = [profile.events * i // PARTS for i in range(PARTS + 1)]
    windows = [*pairwise(cuts[1:]), *pairwise(cuts[:: PARTS // 2])]
    with scratch_folder() as folder:
        parts = (
            save_excerpt(Path(folder) / f"{number}.parquet", recording.trace, [one])
            for number, one in enumerate(windows)
        )
        found = [load_trace(one, recording.alignment) for one in parts]
    return Parts(tuple(found[:-2]), tuple(found[-2:]), options, progress)


def _total(needs: Sequence[int | None]) -> float:
    return sum(float("inf") if one is None else one for one in needs)
