# SPDX-License-Identifier: Apache-2.0
"""Plans made from several traces of a program, and what becomes of them on traces not seen.

Each candidate is made twice over: from all traces, which is the plan to use, and from all but one
fold, to be measured on that fold's traces, which it has not seen:

    made from    2 3 4 5 6    1 3 4 5 6 ...          region: what the objective says of these
    measured on  1            2          ...          R_safe, and a replay in region x (1 + margin)

What decides is the region needed by traces that a plan has not seen. The region itself is one more
thing that is trained, so plain allocators go through the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapfit import _engine
from heapfit.compare.candidate import Candidate, NotApplicable
from heapfit.compare.margin import HeapSize, Known, heap_size, kind_of
from heapfit.compare.verdict import are_worth_it
from heapfit.design.plan_options import PlanOptions
from heapfit.design.robust.jobs import Fold, Replays, make_folds
from heapfit.design.robust.objective import LARGEST, Objective
from heapfit.errors import HeapfitError
from heapfit.outputs.folder import folder_aside
from heapfit.plan.allocators import counts_blocks
from heapfit.plan.plan import LARGEST_REGION, Plan
from heapfit.plan.plan_file import PlanFile, SeenTrace, TrainedOn, require_unedited, save_plan
from heapfit.progress import Progress, no_progress
from heapfit.sweep import Sweep
from heapfit.trace.content import content_hash
from heapfit.trace.stored import Trace, TraceInfo
from heapfit.workloads.draw import is_drawn

MARGINS = (0, 1, 2, 5, 10, 20)  # percent above the region that the seen traces ask for
MOST_FOLDS = 8
_STEP = _engine.REGION_UNIT
_LEAST_SAVED = 100  # pools have to save this part of U_max on each trace they have not seen
_HOPELESS = 1.25  # times the best on the trace of most live bytes: not measured on the others


@dataclass(frozen=True, slots=True)
class RobustOptions(PlanOptions):
    """And of a design for several."""

    objective: Objective = LARGEST
    folds: int = MOST_FOLDS  # at most one for each trace


@dataclass(frozen=True, slots=True)
class RobustRow:
    """One candidate on all traces; regions in bytes, None where none below 4 GiB works."""

    name: str
    reason: str  # why it was tried, one line
    plan: Plan  # made from all traces
    is_trained: bool  # on them; otherwise it is the same whatever the traces
    regions: tuple[int | None, ...]  # R_safe of the plan on each trace
    region: int | None  # what the objective says of these
    unseen_regions: tuple[int | None, ...]  # R_safe on each trace, of the plan made without it
    unseen_region: int | None  # what the objective says of these
    run_out: tuple[int, ...]  # traces, of those not seen, that run out at each margin
    held: tuple[bool, ...]  # each trace in the heap that was to be set without it, for its peak

    @property
    def is_cut(self) -> bool:
        """Whether the blocks it holds were counted on the traces, as in pools and budgets."""
        return self.is_trained and counts_blocks(self.plan)

    @property
    def kind(self) -> str:
        """Which margin it needs."""
        return kind_of(self.plan, self.is_trained)

    @property
    def needed(self) -> int | None:
        """What ranks it: the region of unseen traces, where some were left out."""
        return self.unseen_region if self.unseen_regions else self.region

    @property
    def safe_margin(self) -> int | None:
        """The least margin, in percent, from which no unseen trace runs out."""
        failing = [i for i, count in enumerate(self.run_out) if count > 0]
        first = failing[-1] + 1 if failing else 0
        return MARGINS[first] if first < len(self.run_out) else None

    @property
    def safe_region(self) -> int | None:
        """The region of all traces with that margin."""
        if self.region is None or self.safe_margin is None:
            return None
        return with_margin(self.region, self.safe_margin)


@dataclass(frozen=True, slots=True)
class RobustDesigns:
    """Candidates ranked by the region that unseen traces need, smallest first."""

    traces: int
    recordings: int  # of these; the others are drawn
    folds: int
    objective: Objective
    u_max: tuple[int, ...]  # of each trace, in bytes
    base_alignment: int
    joined: TraceInfo
    content: str  # hash of the joined traces
    contents: tuple[str, ...]  # and of each
    rows: tuple[RobustRow, ...]
    not_applicable: tuple[NotApplicable, ...]

    @property
    def u_max_objective(self) -> int:
        """What the objective says of U_max."""
        return self.objective.of(self.u_max) or 0

    @property
    def safest(self) -> RobustRow | None:
        """The least region in which no unseen trace ran out."""
        safe = [row for row in self.rows if row.safe_region is not None]
        return min(safe, key=lambda row: row.safe_region or 0, default=None)

    @property
    def without_pools(self) -> RobustRow | None:
        """The best that sets nothing aside."""
        return next((row for row in self.rows if not row.is_cut), None)

    @property
    def chosen(self) -> RobustRow:
        """The plan to take: `choose` without pools being asked for."""
        return self.choose()

    def choose(self, pools_asked: bool = False) -> RobustRow:
        """The first row, unless its blocks were counted for too little.

        Pools have to hold on each trace that they were made without, and to save a hundredth of
        its U_max there. Where they are asked for, closing a part of the gap is enough.
        """
        plain = self.without_pools
        if plain is None:
            return self.rows[0]
        taken = self._is_worth_it if pools_asked else self._holds
        before = self.rows[: self.rows.index(plain)]
        return next((row for row in before if taken(row, plain)), plain)

    def _is_worth_it(self, row: RobustRow, plain: RobustRow) -> bool:
        return are_worth_it(row.needed, plain.needed, self.u_max_objective)

    def _holds(self, row: RobustRow, plain: RobustRow) -> bool:
        if self.recordings < self.traces or not row.held or not all(row.held):
            return False
        needs = zip(row.unseen_regions, plain.unseen_regions, self.u_max, strict=True)
        return all(
            pools is not None and (heap is None or pools + u_max / _LEAST_SAVED <= heap)
            for pools, heap, u_max in needs
        )

    def known(self, row: RobustRow) -> Known:
        """What the row's margin rests on."""
        return Known(self.recordings, self.u_max_objective, row.kind)

    def heap_size(
        self, row: RobustRow, peak: int | None = None, margin: float | None = None
    ) -> HeapSize | None:
        """What to set a heap to; None if no region serves the traces."""
        return None if row.region is None else heap_size(row.region, self.known(row), peak, margin)

    @property
    def best_plain(self) -> RobustRow | None:
        """The best of those that no trace has made."""
        return next((row for row in self.rows if not row.is_trained), None)


def design_robust(
    traces: Sequence[Trace],
    options: RobustOptions | None = None,
    progress: Progress = no_progress,
    sweep: Sweep | None = None,
) -> RobustDesigns:
    """Makes and measures every candidate; HeapfitError with fewer than two traces."""
    options, sweep = options or RobustOptions(), sweep or Sweep(workers=1)
    if len(traces) < 2:
        raise HeapfitError("a design for several traces takes two at least")
    folds = min(options.folds, len(traces))
    every = tuple(range(len(traces)))
    parted = [_parted(every, part, folds) for part in range(folds if folds > 1 else 0)]
    whole, *parts = make_folds(traces, [(every, ()), *parted], options, sweep, progress)
    is_exact = options.effort.every_size
    replays = Replays(traces, [whole, *parts], sweep, progress, is_exact=is_exact)
    candidates, hopeless = _sorted_out(whole.portfolio.candidates, replays)
    replays.measure(_pairs(candidates, [whole, *parts]))
    replays.try_out(
        trial
        for one in candidates
        for part in parts
        for trial in _trials(one, part, replays, options)
    )
    rows = [_row(one, [whole, *parts], replays, options) for one in candidates]
    recordings = sum(not is_drawn(trace.info) for trace in traces)
    u_max = options.objective.of(replays.u_max) or 0
    return RobustDesigns(
        traces=len(traces),
        recordings=recordings,
        folds=len(parts),
        objective=options.objective,
        u_max=replays.u_max,
        base_alignment=replays.base_alignment,
        joined=whole.joined,
        content=whole.content,
        contents=tuple(content_hash(trace) for trace in traces),
        rows=tuple(sorted(rows, key=lambda row: _rank(row, recordings, u_max))),
        not_applicable=(*whole.portfolio.not_applicable, *hopeless),
    )


def failure_bound(traces: int) -> float:
    """At most this share of traces fails, at 95 %, where none of so many did (rule of three).

    >>> round(failure_bound(16), 3), round(failure_bound(2995), 5)
    (0.171, 0.001)
    """
    return float(1 - 0.05 ** (1 / traces)) if traces > 0 else 1.0


def traces_for(share: float) -> int:
    """Of how many traces none may fail, to say at 95 % that no more than this share fails.

    >>> traces_for(0.001)
    2995
    """
    return math.ceil(math.log(0.05) / math.log1p(-share))


def with_margin(region: int, percent: int) -> int:
    """The region and so many percent more, which makes it a multiple of 8 bytes."""
    if percent == 0:
        return region
    return min(
        -(-region * (100 + percent) // (100 * _STEP)) * _STEP, LARGEST_REGION // _STEP * _STEP
    )


def _parted(
    every: tuple[int, ...], part: int, folds: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The traces seen and those not seen by a fold."""
    return (
        tuple(i for i in every if i % folds != part),
        tuple(i for i in every if i % folds == part),
    )


def _rank(row: RobustRow, recordings: int, u_max: int) -> tuple[float, float, str]:
    """By what is needed unseen, with the margin of its kind."""
    known = Known(recordings, u_max, row.kind)
    needed = math.inf if row.needed is None else heap_size(row.needed, known).region
    return needed, row.region or math.inf, row.name


def _sorted_out(
    candidates: Sequence[Candidate], replays: Replays
) -> tuple[list[Candidate], list[NotApplicable]]:
    """Those worth the replays, and those that are far off where most bytes are live."""
    highest = max(range(len(replays.u_max)), key=lambda trace: replays.u_max[trace])
    replays.measure((one.plan, highest) for one in candidates)
    needs = [replays.region(one.plan, highest) or math.inf for one in candidates]
    least = min(needs, default=math.inf)
    kept: list[Candidate] = []
    hopeless: list[NotApplicable] = []
    for one, need in zip(candidates, needs, strict=True):
        if math.isinf(need) or need <= _HOPELESS * least:
            kept.append(one)
        else:
            why = (
                f"{need:,} B for trace {highest + 1}, {need / least:.2f} times what the best needs"
            )
            hopeless.append(NotApplicable(one.name, why))
    return kept, hopeless


def _pairs(candidates: Sequence[Candidate], folds: Sequence[Fold]) -> Iterator[tuple[Plan, int]]:
    """Every plan of a candidate with every trace, seen or not."""
    for one in candidates:
        for fold in folds:
            plan = fold.plan(one.name)
            if plan is not None:
                yield from ((plan, trace) for trace in (*fold.seen, *fold.unseen))


def _trials(
    one: Candidate, part: Fold, replays: Replays, options: RobustOptions
) -> list[tuple[Plan, int, int]]:
    """A fold's plan on the traces it has not seen, in the region of the others, for each margin."""
    plan = part.plan(one.name)
    seen = plan and options.objective.of([replays.region(plan, trace) for trace in part.seen])
    if not plan or not seen:
        return []
    return [(plan, trace, with_margin(seen, margin)) for margin in MARGINS for trace in part.unseen]


def _row(
    one: Candidate, folds: Sequence[Fold], replays: Replays, options: RobustOptions
) -> RobustRow:
    whole, parts = folds[0], folds[1:]
    regions = tuple(replays.region(one.plan, trace) for trace in whole.seen)
    unseen: dict[int, int | None] = {}
    run_out = [0] * len(MARGINS)
    for part in parts:
        plan = part.plan(one.name)
        for trace in part.unseen:
            unseen[trace] = None if plan is None else replays.region(plan, trace)
        trials = _trials(one, part, replays, options)
        for i in range(len(MARGINS)):
            tried = trials[i * len(part.unseen) : (i + 1) * len(part.unseen)]
            run_out[i] += len(part.unseen) - sum(replays.runs(*trial) for trial in tried)
    held = {trace: _has_held(one, part, trace, replays) for part in parts for trace in part.unseen}
    unseen_regions = tuple(unseen[trace] for trace in sorted(unseen))
    return RobustRow(
        name=one.name,
        reason=one.reason,
        plan=one.plan,
        is_trained=one.trained_on_this_trace,
        regions=regions,
        region=options.objective.of(regions),
        unseen_regions=unseen_regions,
        unseen_region=options.objective.of(unseen_regions),
        run_out=tuple(run_out) if parts else (),
        held=tuple(held[trace] for trace in sorted(held)),
    )


def _has_held(one: Candidate, part: Fold, trace: int, replays: Replays) -> bool:
    """Whether a trace that was left out needs no more than the heap that was set without it."""
    plan = part.plan(one.name)
    seen = LARGEST.of([replays.region(plan, i) for i in part.seen]) if plan else None
    needed = replays.region(plan, trace) if plan else None
    if seen is None or needed is None:
        return False
    u_max = max(replays.u_max[i] for i in part.seen)
    known = Known(len(part.seen), u_max, kind_of(one.plan, one.trained_on_this_trace))
    return needed <= heap_size(seen, known, replays.u_max[trace]).region


def save_robust_plans(
    designs: RobustDesigns, name: str, names: Sequence[str], folder: Path
) -> tuple[Path, ...]:
    """Writes one plan file for each row into `folder`.

    `name` is the traces' together, `names` are theirs, for people.
    """
    trained_on = trained_on_traces(designs, name, names)
    paths = tuple(folder / f"{row.name}.toml" for row in designs.rows)
    with folder_aside(folder, require_unedited) as aside:
        for row, path in zip(designs.rows, paths, strict=True):
            save_plan(aside / path.name, robust_plan_file(row, designs, trained_on))
    return paths


def trained_on_traces(designs: RobustDesigns, name: str, names: Sequence[str]) -> TrainedOn:
    """What a plan file says of the traces it was made from."""
    joined = designs.joined
    seen = (SeenTrace(*one) for one in zip(names, designs.contents, strict=True))
    return TrainedOn(name, designs.content, joined.events, joined.kind, tuple(seen))


def robust_plan_file(
    row: RobustRow,
    designs: RobustDesigns,
    trained_on: TrainedOn,
    size: HeapSize | None = None,
) -> PlanFile:
    """A row's plan with what was measured; `size` where another peak or margin is asked for."""
    size = size or designs.heap_size(row)
    return PlanFile(
        name=row.name,
        plan=row.plan,
        region=None if size is None else size.region,
        r_safe=row.region,
        peak=None if size is None else size.peak,
        margin=None if size is None else size.margin,
        r_min=None,
        base_alignment=designs.base_alignment,
        u_max=designs.u_max_objective,
        pointer_bits=designs.joined.pointer_bits,
        trained_on=trained_on,
        heapfit_version=_engine.version,
    )
