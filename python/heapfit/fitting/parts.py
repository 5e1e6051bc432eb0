# SPDX-License-Identifier: Apache-2.0
"""What heaps need of parts of a service's recording that they did not learn from.

    recording    | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |
    learned of     1   2   3   4 -> 5   6   7   8     each part is replayed by itself, but for the
                       2   3   4 <- 5   6   7   8     first: no run is without its start

The least of some twenty heaps on one recording is least in part by luck, and most so where the heap
learned from it. Longer runs take that back (docs/margin.md). Eight parts rank plans; what one saves
over another heap is told by halves, which are longer. A job has no such parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from heapfit.comparison.candidate import Portfolio
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.incumbents.needs import measure
from heapfit.comparison.row import Row
from heapfit.comparison.verdict import verdict_rows
from heapfit.comparison.work import Work, total_work
from heapfit.design.placement.learned import GUESSED_ON
from heapfit.design.placement.tailored_plans import (
    BY_LIFETIME,
    LEAST_POINTS,
    find_layout,
)
from heapfit.design.plan_options import PlanOptions
from heapfit.design.portfolio import list_uncounted, split_applicable
from heapfit.forecast.load import Load
from heapfit.outputs.scratch import scratch_folder
from heapfit.trace.excerpt import save_excerpt, shorten
from heapfit.trace.loaded import LoadedTrace, load_trace

PARTS: Final = 8
_PARTS: Final = "parts"  # of what was found of a recording
_LEARNED: Final = "learned"  # of a half
_LIVES: Final = 10  # events of a part for each block that is live at once: holes take long to form


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a recording, and its halves, of either of which plans are learned."""

    parts: tuple[LoadedTrace, ...]  # but for the first
    halves: tuple[LoadedTrace, ...]

    def judge(self, table: Comparison, row: Row, options: PlanOptions) -> Comparison:
        """The table with what a row needs of the parts, and whether its lead lasts there.

        A plan that learned has to save as much over the best that did not as any step of learning.
        """
        rival = next((one for one in verdict_rows(table) if not one.trained_on_this_trace), row)
        needs, work = self.measure(row, options, self.parts)
        lasts = True
        if rival is not row and row.trained_on_this_trace:
            others, more = self.measure(rival, options, self.parts)
            peaks, work = sum(one.profile.u_max for one in self.parts), work + more
            lasts = total_need(others) - total_need(needs) >= LEAST_POINTS / 100 * peaks
        judged = replace(row, parts=needs, lasts=lasts, work=row.work + work)
        return replace(table.with_row(judged), work=table.work + work)

    def measure(
        self, row: Row, options: PlanOptions, parts: Sequence[LoadedTrace]
    ) -> tuple[tuple[int | None, ...], Work]:
        """What a row's plan needs of parts, made without each where it learns; and the work.

        Learned anew is what its plan learned, in its layout; of excerpts where halves are long.
        """
        heaps, work = [row.heap, row.heap], Work()
        if row.trained_on_this_trace:
            climbs = not row.name.startswith(BY_LIFETIME)
            options = replace(options, layout=find_layout(row.plan), climbs=climbs)
            learned = [_learn(one, options) for one in reversed(self.halves)]
            plans = [one.plan(row.name) or row.plan for one, _ in learned]
            heaps = [replace(row.heap, plan=plan) for plan in plans]
            work = total_work(one for _, one in learned)
        found = [
            measure(heaps[i >= len(parts) // 2], [one], every_size=False)
            for i, one in enumerate(parts)
        ]
        work += Work(regions=sum(one.events for one in found))
        return tuple(one.most for one in found), work


def _learn(half: LoadedTrace, options: PlanOptions) -> tuple[Portfolio, Work]:
    """What a half learns, of an excerpt where it is long; and the work: none but the first time."""
    key, work = (_LEARNED, repr(options)), Work()
    if key not in half.found:
        learned = split_applicable(list_uncounted(shorten(half, GUESSED_ON) or half, options))
        half.found[key], work = learned, learned.work
    found: Portfolio = half.found[key]
    return found, work


def cut_parts(recording: LoadedTrace) -> Parts | None:
    """The parts of a recording, cut once; None of one that is a job, or too short to be cut."""
    load, profile = Load.of([recording.profile]), recording.profile
    if load.is_job or load.is_start or profile.events < PARTS * _LIVES * profile.live_blocks_max:
        return None
    return cut_recording(recording)


def cut_recording(recording: LoadedTrace) -> Parts:
    """The parts of any recording, and its halves, cut once."""
    return recording.once((_PARTS,), lambda: _cut(recording))


def _cut(recording: LoadedTrace) -> Parts:
    cuts = [recording.profile.events * i // PARTS for i in range(PARTS + 1)]
    windows = [*pairwise(cuts[1:]), *pairwise(cuts[:: PARTS // 2])]
    with scratch_folder() as folder:
        parts = (
            save_excerpt(Path(folder) / f"{number}.parquet", recording.trace, [one])
            for number, one in enumerate(windows)
        )
        found = [load_trace(one, recording.alignment) for one in parts]
    return Parts(tuple(found[:-2]), tuple(found[-2:]))


def total_need(needs: Sequence[int | None]) -> float:
    """The bytes of all; without end where one has no region."""
    return sum(float("inf") if one is None else one for one in needs)
