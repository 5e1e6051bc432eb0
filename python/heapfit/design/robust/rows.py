# SPDX-License-Identifier: Apache-2.0
"""The rows of a design for several traces: candidates measured and ranked.

`all_rows` knows each plan's region on each trace, and tries margins. `rows_for_choice` knows what
decides the choice: of every plan the largest region of all traces, and each trace's of the first
row that sets no blocks aside, of those before it and of what is shown with every answer, since the
choice is one of these. Rows that changes of the program need too much more of are passed over.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TypeVar

from heapfit.comparison.candidate import Candidate, NotApplicable
from heapfit.comparison.change_results import ChangeTest
from heapfit.comparison.margin import MarginBasis, heap_size, margin_kind
from heapfit.comparison.measuring import make_row
from heapfit.comparison.row import MARGINS, Row, find_largest, rank_rows, with_margin
from heapfit.design.robust.jobs import Fold, Replays
from heapfit.design.robust.largest import Pair, largest_regions
from heapfit.plan.plan import Plan

T = TypeVar("T")

_HOPELESS = 1.25  # times the best on the trace of most live bytes: not measured on the others


@dataclass(frozen=True, slots=True)
class RowJudge:
    """The folds and replays that all candidates are judged by."""

    whole: Fold  # made from all traces
    parts: Sequence[Fold]  # each made without some
    replays: Replays
    recordings: int
    tried: Mapping[str, ChangeTest] = field(default_factory=dict)  # on changed programs, by name

    def evaluate(self, plan: Plan | None, traces: Sequence[int]) -> int | None:
        """The largest of a plan's measured regions on these traces."""
        if plan is None:
            return None
        return find_largest([self.replays.region(plan, trace) for trace in traces])


def split_hopeless(
    candidates: Sequence[Candidate], replays: Replays
) -> tuple[list[Candidate], list[NotApplicable]]:
    """The candidates that may win, and those far off on the trace of most live bytes."""
    highest = max(range(len(replays.u_max)), key=lambda trace: replays.u_max[trace])
    replays.measure((one.plan, highest) for one in candidates)
    needs = [replays.region(one.plan, highest) or math.inf for one in candidates]
    least = min(needs, default=math.inf)
    kept: list[Candidate] = []
    hopeless: list[NotApplicable] = []
    for candidate, need in zip(candidates, needs, strict=True):
        if math.isinf(need) or need <= _HOPELESS * least:
            kept.append(candidate)
        else:
            why = (
                f"{need:,} B for trace {highest + 1}, {need / least:.2f} times what the best needs"
            )
            hopeless.append(NotApplicable(candidate.name, why))
    return kept, hopeless


def all_rows(candidates: Sequence[Candidate], judge: RowJudge) -> list[Row]:
    """The complete rows of all candidates, ranked."""
    replays = judge.replays
    replays.measure(_pairs(candidates, [judge.whole, *judge.parts]))
    replays.try_out(
        trial for one in candidates for part in judge.parts for trial in _trials(one, part, judge)
    )
    rows = []
    for one in candidates:
        row, run_out = _measure_row(one, judge), _count_run_out(one, judge)
        seen = [judge.evaluate(part.plan(one.name), part.seen) for part in judge.parts]
        rows.append(replace(row, run_out=run_out, held=_check_holdout(one, seen, judge)))
    return list(rank_rows(rows))


def rows_for_choice(candidates: Sequence[Candidate], judge: RowJudge) -> list[Row]:
    """The ranked rows, with what decides the choice."""
    rows = _rank_by_largest(candidates, judge)
    plain = [i for i, row in enumerate(rows) if not row.is_cut_to_trace]
    first = next(
        (i for i in plain if not rows[i].known.is_trace_specific), (plain or [len(rows) - 1])[-1]
    )
    by_name = {one.name: one for one in candidates}
    known = [i for i, row in enumerate(rows) if i <= first or by_name[row.name].is_shown]
    looked_at = [by_name[rows[i].name] for i in known]
    judge.replays.measure(pair for one in looked_at for pair in _pairs_for_choice(one, judge))
    whole = [_measure_row(one, judge) for one in looked_at]
    for i, candidate in enumerate(looked_at):
        if whole[i].is_cut_to_trace:
            seen = [
                _require_all([(part.plan(candidate.name), trace) for trace in part.seen])
                for part in judge.parts
            ]
            most = largest_regions(seen, judge.replays)
            whole[i] = replace(whole[i], held=_check_holdout(candidate, most, judge))
    for i, row in zip(known, whole, strict=True):
        rows[i] = row
    return rows


def _rank_by_largest(candidates: Sequence[Candidate], judge: RowJudge) -> list[Row]:
    """The rows ranked by the largest regions of the traces together."""
    seen = [[(one.plan, trace) for trace in judge.whole.seen] for one in candidates]
    unseen = [_require_all(_unseen_pairs(one, judge)) for one in candidates]
    most = largest_regions([*seen, *unseen], judge.replays)
    found = zip(candidates, most[: len(seen)], most[len(seen) :], strict=True)
    return list(
        rank_rows(
            [
                replace(_row(one, judge), r_safe=here, unseen_r_safe=away)
                for one, here, away in found
            ]
        )
    )


def _row(candidate: Candidate, judge: RowJudge) -> Row:
    """The row of a candidate of which no region is known yet."""
    row = make_row(candidate, max(judge.replays.u_max))
    return replace(row, runs=judge.recordings, changes=judge.tried.get(candidate.name))


def _measure_row(candidate: Candidate, judge: RowJudge) -> Row:
    """The row of a candidate with its region on each trace."""
    regions = tuple(judge.replays.region(candidate.plan, trace) for trace in judge.whole.seen)
    unseen = _sort_by_trace(
        judge, [judge.evaluate(plan, [trace]) for plan, trace in _unseen_pairs(candidate, judge)]
    )
    return replace(
        _row(candidate, judge),
        needs=regions,
        r_safe=find_largest(regions),
        unseen=unseen,
        unseen_r_safe=find_largest(unseen),
    )


def _count_run_out(candidate: Candidate, judge: RowJudge) -> tuple[int, ...]:
    """How many hold-out traces run out of memory at each margin; empty without folds."""
    count = [0] * len(MARGINS)
    for part in judge.parts:
        trials = _trials(candidate, part, judge)
        for i in range(len(MARGINS)):
            tried = trials[i * len(part.unseen) : (i + 1) * len(part.unseen)]
            count[i] += len(part.unseen) - sum(judge.replays.runs(*trial) for trial in tried)
    return tuple(count) if judge.parts else ()


def _trials(candidate: Candidate, part: Fold, judge: RowJudge) -> list[tuple[Plan, int, int]]:
    """A fold's plan on its hold-out traces, in the region of the others, for each margin."""
    plan = part.plan(candidate.name)
    seen = judge.evaluate(plan, part.seen)
    if not plan or not seen:
        return []
    return [(plan, trace, with_margin(seen, margin)) for margin in MARGINS for trace in part.unseen]


def _check_holdout(
    candidate: Candidate, seen: Sequence[int | None], judge: RowJudge
) -> tuple[bool, ...]:
    """True for each trace that runs in the heap set without it; `seen`: the folds' regions."""
    held = [
        _fits(candidate, part, trace, region, judge)
        for part, region in zip(judge.parts, seen, strict=True)
        for trace in part.unseen
    ]
    return _sort_by_trace(judge, held)


def _fits(
    candidate: Candidate, part: Fold, trace: int, region: int | None, judge: RowJudge
) -> bool:
    needed = judge.evaluate(part.plan(candidate.name), [trace])
    if region is None or needed is None:
        return False
    u_max = judge.replays.u_max
    most = max(u_max[i] for i in part.seen)
    known = MarginBasis(
        len(part.seen), most, margin_kind(candidate.plan, candidate.trained_on_this_trace)
    )
    return needed <= heap_size(region, known, u_max[trace]).region


def _sort_by_trace(judge: RowJudge, values: Sequence[T]) -> tuple[T, ...]:
    """The values of the folds' hold-out traces, sorted by trace."""
    traces = [trace for part in judge.parts for trace in part.unseen]
    return tuple(value for _, value in sorted(zip(traces, values, strict=True), key=itemgetter(0)))


def _pairs(candidates: Sequence[Candidate], folds: Sequence[Fold]) -> Iterator[Pair]:
    """Every plan of a candidate with every trace of its fold."""
    for one in candidates:
        for fold in folds:
            plan = fold.plan(one.name)
            if plan is not None:
                yield from ((plan, trace) for trace in (*fold.seen, *fold.unseen))


def _pairs_for_choice(candidate: Candidate, judge: RowJudge) -> Iterator[Pair]:
    """The plans and traces of a row that may be chosen."""
    yield from ((candidate.plan, trace) for trace in judge.whole.seen)
    yield from (
        (plan, trace) for plan, trace in _unseen_pairs(candidate, judge) if plan is not None
    )


def _unseen_pairs(candidate: Candidate, judge: RowJudge) -> list[tuple[Plan | None, int]]:
    """Each trace with the plan that was made without it; None where none could be made."""
    return [(part.plan(candidate.name), trace) for part in judge.parts for trace in part.unseen]


def _require_all(pairs: Sequence[tuple[Plan | None, int]]) -> list[Pair]:
    """The pairs, or none if one of the plans could not be made: no region serves its trace."""
    made = [(plan, trace) for plan, trace in pairs if plan is not None]
    return made if len(made) == len(pairs) else []
