# SPDX-License-Identifier: Apache-2.0
"""One recording on a plan, in the very region that the plan sets: one replay, and no search.

The replay is not sampled, and reads its file batch by batch however long that is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from heapfit.checks.system_run import place_in_region
from heapfit.comparison.heap_map import ReplaySubject
from heapfit.comparison.incumbents.heap_plans import heap_of_plan, region_of_plan
from heapfit.comparison.trial import Refusal, plain_replay
from heapfit.errors import HeapfitError
from heapfit.plan.plan_file import PlanFile
from heapfit.progress import Progress, ignore_progress
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.operations import Op
from heapfit.trace.profile import profile_trace
from heapfit.trace.stored import Trace, TraceInfo
from heapfit.trace.tabular import Tabular, arrow_table


@dataclass(frozen=True, slots=True)
class PlanRun:
    """A recording replayed on a plan's heap, up to its end or to the first failed request."""

    name: str  # the recording's, for people
    trace: TraceInfo
    peak: int  # most live bytes of the whole recording, whatever was refused
    replayed: int  # events
    refusal: Refusal | None  # None: the whole recording runs


def run_recording(
    trace: Trace, plan: PlanFile, name: str, progress: Progress = ignore_progress
) -> PlanRun:
    """Replays a recording on the plan's heap in its region; each event once at most.

    HeapfitError if the plan sets no region.
    """
    if plan.region is None:
        raise HeapfitError(
            f"{plan.name}: the plan sets no region (add `region`, or make it with heapfit fit)"
        )
    if plan.heap:
        return _run_system_heap(trace, plan, name, trace.base_alignment_for(plan.base_alignment))
    replay = plain_replay(
        trace, plan.plan, plan.region, progress, base_alignment=plan.base_alignment
    )
    result = replay.result()
    if result.failed_event is None or result.failed_size is None:
        return PlanRun(name, trace.info, result.live_peak, result.events, None)
    free, hole = replay.blocks().free, replay.blocks().largest_free
    refusal = Refusal(result.failed_event, result.failed_size, replay.live, free, hole)
    return PlanRun(name, trace.info, profile_trace(trace).u_max, result.events, refusal)


@dataclass(frozen=True, slots=True, repr=False)
class Replays(Tabular):
    """A recording replayed on one heap in regions of several sizes. Sizes in bytes."""

    heap: str
    # What the heap is set to, what came of it, how many requests fail where it goes on, and the
    # operation and the block of the first.
    runs: tuple[tuple[int, PlanRun, int, str | None, int | None], ...]

    def __str__(self) -> str:
        served = [size for size, run, *_ in self.runs if run.refusal is None]
        least = f", the least {min(served):,} B" if served else ""
        return f"replays on {self.heap}: {len(served)} of {len(self.runs)} sizes serve all{least}"

    def to_arrow(self) -> pa.Table:
        """A row for each size: whether it serves all, how many requests fail, and the first."""
        return arrow_table(
            self.runs,
            {
                "region": lambda one: one[0],
                "is_served": lambda one: one[1].refusal is None,
                "replayed": lambda one: one[1].replayed,
                "refused": lambda one: one[2],
                **{name: partial(_field_of_refusal, name) for name in Refusal.__dataclass_fields__},
                "op": lambda one: one[3],
                "object": lambda one: one[4],
            },
        )


def _field_of_refusal(name: str, run: tuple[int, PlanRun, *tuple[object, ...]]) -> int | None:
    return getattr(run[1].refusal, name, None)


def replay_sizes(
    trace: Trace, plans: Sequence[PlanFile], progress: Progress = ignore_progress
) -> Replays:
    """Replays a recording on plans of one heap, each in the region that it sets."""
    return Replays(
        plans[0].heap or plans[0].name, tuple(_replay_size(trace, one, progress) for one in plans)
    )


def _replay_size(
    trace: Trace, plan: PlanFile, progress: Progress
) -> tuple[int, PlanRun, int, str | None, int | None]:
    run, region = run_recording(trace, plan, plan.name, progress), plan.region or 0
    if run.refusal is None:
        return region, run, 0, None, None
    placed = place_in_region(trace, plan, trace.base_alignment_for(plan.base_alignment))
    requests, event = placed.asked.requests, run.refusal.event
    op, block = Op(requests.op[event]).name.lower(), int(requests.named[event])
    return region, run, int(placed.find_refused(progress).sum()), op, block


def _run_system_heap(trace: Trace, plan: PlanFile, name: str, base: int) -> PlanRun:
    try:
        placed = place_in_region(trace, plan, base)
    except HeapfitError as error:
        raise HeapfitError(f"{name}: {error}") from error
    replay, asked, peak = placed.make_replay(), placed.asked, profile_trace(trace).u_max
    if replay is None:
        event, free, hole = int(asked.asked_at[0]), 0, 0
    elif replay.feed(asked.served.engine()):
        return PlanRun(name, trace.info, peak, trace.info.events, None)
    else:
        event = asked.event_of(replay.result().failed_event or 0)
        free, hole = replay.blocks().free, replay.blocks().largest_free
    refusal = Refusal(event, int(asked.requests.size[event]), asked.live_before(event), free, hole)
    return PlanRun(name, trace.info, peak, event, refusal)


def reject_unlike(info: TraceInfo, name: str, other: str, kind: str, pointer_bits: int) -> None:
    """HeapfitError for packets beside a program's requests, or another pointer width.

    `other`, of this kind and width, is a plan or a recording; 0 bits: unknown.
    """
    if info.kind != kind:
        raise HeapfitError(
            f"{name}: is a recording of {info.kind}, {other} is of {kind} (give one of its kind)"
        )
    widths = {info.pointer_bits, pointer_bits} - {0}
    if info.kind == "heap" and len(widths) > 1:
        raise HeapfitError(
            f"{name}: recorded on {info.pointer_bits} bit, {other} on {pointer_bits} bit: sizes "
            "differ (record both on the same target)"
        )


def subject_of_plan(
    name: str, loaded: LoadedTrace, plan: PlanFile, need: int | None = None
) -> ReplaySubject:
    """A recording in the plan's heap, set to what it needs, by default as the plan has it."""
    region = max(region_of_plan(plan, need), plan.plan.engine().smallest_region)
    base = loaded.trace.base_alignment_for(plan.base_alignment)
    return ReplaySubject.of_heap(name, heap_of_plan(plan), loaded, (region, base))
