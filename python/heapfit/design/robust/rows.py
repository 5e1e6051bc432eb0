# SPDX-License-Identifier: Apache-2.0
"""The rows of a design for several traces: candidates measured and ranked.

Of every plan the largest region of all traces is known. What each trace needs is known of the first
row that sets no blocks aside, of those before it and of what is shown with every answer, since the
choice is one of these. A whole design knows it of every plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TypeVar

from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.incumbents.needs import find_largest
from heapfit.comparison.margin import heap_size
from heapfit.comparison.measuring import make_row
from heapfit.comparison.row import Row, rank_rows
from heapfit.design.portfolio import SHOWN
from heapfit.design.robust.jobs import Fold, Pair, ReplayCache
from heapfit.design.robust.largest import largest_regions
from heapfit.plan.plan import Plan

T = TypeVar("T")

_HOPELESS = 1.25  # times the best on the trace of most live bytes: not measured on the others


def drop_hopeless(
    candidates: Sequence[Candidate], replays: ReplayCache, *, is_whole: bool = False
) -> list[Candidate | NotApplicable]:
    """The candidates, of which those far off on the trace of most live bytes do not apply.

    Each counts with the reserve of its kind. One whose blocks were counted has to need less there
    than the best of the others, unless all `is_whole`: nothing else is a reason to have it.
    """
    highest = max(range(replays.load.runs), key=lambda trace: replays.load.peaks[trace])
    replays.measure((one.plan, highest) for one in candidates)
    rows = [
        replace(make_row(one, replays.load), r_safe=replays.region(one.plan, highest))
        for one in candidates
    ]
    plain = [row.r_safe for row in rows if row.r_safe and not row.is_cut_to_trace]
    sizes = [math.inf if row.heap_size is None else row.heap_size.region for row in rows]
    least, limit = min(sizes, default=math.inf), min(plain, default=math.inf)

    def is_hopeless(row: Row, size: float) -> bool:
        is_beaten = row.is_cut_to_trace and not is_whole and (row.r_safe or 0) >= limit
        return not math.isinf(size) and (is_beaten or size > _HOPELESS * least)

    return [
        NotApplicable(
            one.name,
            f"{row.r_safe:,} B for trace {highest + 1}, {size / least:.2f} times what the best "
            "needs with its reserve",
        )
        if is_hopeless(row, size)
        else one
        for one, row, size in zip(candidates, rows, sizes, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class RowJudge:
    """The folds and replays that all candidates are judged by."""

    whole: Fold  # made from all traces
    parts: Sequence[Fold]  # each made without some
    replays: ReplayCache
    is_whole: bool  # all is measured of every row

    def rank(self, candidates: Sequence[Candidate]) -> tuple[Row, ...]:
        """The rows ranked by the largest regions of the traces together."""
        if self.is_whole:
            self.replays.measure(
                pair
                for one in candidates
                for fold in (self.whole, *self.parts)
                for pair in _keep_if_made([*fold.pair_seen(one.name), *fold.pair_unseen(one.name)])
            )
        seen = [self._pair_seen(one) for one in candidates]
        unseen = [self._pair_unseen(one) for one in candidates]
        most = largest_regions([*seen, *map(_require_all, unseen)], self.replays)
        regions = zip(candidates, most[: len(seen)], most[len(seen) :], strict=True)
        rows = [
            replace(make_row(one, self.replays.load), r_safe=here, unseen_r_safe=away)
            for one, here, away in regions
        ]
        return rank_rows(rows)

    def complete(self, designs: Comparison) -> Comparison:
        """The rows ranked, with what decides the choice of those that may be chosen now."""
        rows = designs.rows
        plain = [
            i for i, row in enumerate(rows) if not row.is_cut_to_trace and row.lasts is not False
        ]
        first = (plain or [len(rows) - 1])[0]
        asked = {
            row.name: row
            for i, row in enumerate(rows)
            if not row.needs and (self.is_whole or i <= first or row.name in SHOWN)
        }
        self.replays.measure(
            pair
            for row in asked.values()
            for pair in (*self._pair_seen(row), *_keep_if_made(self._pair_unseen(row)))
        )
        ranked = rank_rows([self._measure(row) if row.name in asked else row for row in rows])
        return replace(designs, rows=ranked, work=designs.work + self.replays.take_work())

    def _measure(self, row: Row) -> Row:
        """The row with its region on each trace, and where it matters what hold-out traces say."""
        needs = [self.replays.region(row.plan, trace) for trace in self.whole.seen]
        unseen = self._sort_by_trace([self._evaluate(*pair) for pair in self._pair_unseen(row)])
        row = replace(
            row,
            needs=tuple(needs),
            r_safe=find_largest(needs),
            unseen=unseen,
            unseen_r_safe=find_largest(unseen),
        )
        is_asked = self.is_whole or row.is_cut_to_trace
        return replace(row, held=self._check_holdout(row)) if is_asked else row

    def _check_holdout(self, row: Row) -> tuple[bool, ...]:
        """True for each trace that runs in the heap set without it."""
        seen = [_require_all(part.pair_seen(row.name)) for part in self.parts]
        most = largest_regions(seen, self.replays)
        held = [
            self._fits(row, part, trace, region)
            for part, region in zip(self.parts, most, strict=True)
            for trace in part.unseen
        ]
        return self._sort_by_trace(held)

    def _fits(self, row: Row, part: Fold, trace: int, region: int | None) -> bool:
        needed = self._evaluate(part.portfolio.plan(row.name), trace)
        peaks = self.replays.load.peaks
        if region is None or needed is None:
            return False
        seen = replace(row.load, peaks=tuple(peaks[one] for one in part.seen))
        known = replace(row.known, load=seen, changes=0.0)
        return needed <= heap_size(region, known, peaks[trace]).region

    def _evaluate(self, plan: Plan | None, trace: int) -> int | None:
        """What a plan needs on a trace; None, too, if it could not be made."""
        return None if plan is None else self.replays.region(plan, trace)

    def _sort_by_trace(self, values: Sequence[T]) -> tuple[T, ...]:
        """The values of the folds' hold-out traces, sorted by trace."""
        traces = [trace for part in self.parts for trace in part.unseen]
        pairs = sorted(zip(traces, values, strict=True), key=itemgetter(0))
        return tuple(value for _, value in pairs)

    def _pair_seen(self, one: Candidate) -> list[Pair]:
        """The plan made from all traces with each of them."""
        return [(one.plan, trace) for trace in self.whole.seen]

    def _pair_unseen(self, one: Candidate) -> list[tuple[Plan | None, int]]:
        """Each trace with the plan that was made without it; None where none could be made."""
        return [pair for part in self.parts for pair in part.pair_unseen(one.name)]


def _keep_if_made(pairs: Sequence[tuple[Plan | None, int]]) -> list[Pair]:
    return [(plan, trace) for plan, trace in pairs if plan is not None]


def _require_all(pairs: Sequence[tuple[Plan | None, int]]) -> list[Pair]:
    """The pairs, or none if one of the plans could not be made: no region serves its trace."""
    made = _keep_if_made(pairs)
    return made if len(made) == len(pairs) else []
