# SPDX-License-Identifier: Apache-2.0
"""Hold-out checks of pool counts: on data that they were not chosen on.

workload     other seeds of the same model                     as good as another run
recording    counts of each half, judged on the other half     as another day, if there was one
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import pairwise

from heapfit import _engine
from heapfit.progress import Progress, count_steps, ignore_progress
from heapfit.sizing.demand import BLOCKS, Demand, Integers
from heapfit.sizing.pool_counts import Goal, choose_counts
from heapfit.sizing.pool_replay import PoolReplay, Refusals, Shape, stack_refusals
from heapfit.sizing.run_out import interval, rarest_shown
from heapfit.sizing.separate_pools import SeparatePools
from heapfit.sweep import Job, Sweep
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import WorkloadSpec, generate_events, spec_of

STANDARD_SEEDS = 8
_STEP = "other draws"
_PARTS = 4  # for each worker
_HALVES = (slice(0, BLOCKS // 2), slice(BLOCKS // 2, BLOCKS))


class Evidence(StrEnum):
    """The kind of hold-out data."""

    SEEDS = "seeds"
    HALVES = "halves"


@dataclass(frozen=True, slots=True)
class Chance:
    """How often requests run out, of all pools or of one."""

    share: float
    lowest: float  # of the interval of 95 %
    highest: float


@dataclass(frozen=True, slots=True)
class HoldoutRefusals:
    """The refusals on hold-out draws. `pools` are in the order of the sized pools."""

    evidence: Evidence
    draws: int  # traces; halves are one together
    overall: Chance
    pools: tuple[Chance, ...]
    memory: tuple[int, ...]  # bytes of the counts judged: of halves each half's own

    @property
    def description(self) -> str:
        """The hold-out data in a sentence, and what they can show."""
        if self.evidence is Evidence.SEEDS:
            return f"the same counts on {self.draws} other seeds of the workload."
        first, second = self.memory
        return (
            f"counts of each half of the trace ({first:,} and {second:,} B), judged on the other "
            "half. A second recording would be better evidence."
        )


@dataclass(frozen=True, slots=True)
class HoldoutCheck:
    """A trace whose pools are sized, with the goal, for hold-out checks on other draws of it."""

    trace: Trace
    replay: PoolReplay
    alone: SeparatePools
    goal: Goal
    overall: Demand  # on all pools together

    def judge(
        self,
        counts: Integers,
        draws: int | None,
        progress: Progress = ignore_progress,
        sweep: Sweep | None = None,
    ) -> HoldoutRefusals:
        """Checks counts on a workload's other seeds, 8 if None; of a recording on its halves."""
        spec = spec_of(self.trace)
        if spec is None:
            return self._judge_halves(progress)
        number = draws or STANDARD_SEEDS
        workers = sweep or Sweep(1)
        jobs = [
            Job(
                f"draws from {first} on",
                _refusals_of,
                _Draws(spec, range(first, end), self.alone.shapes, counts),
                events=(end - first) * self.trace.info.events,
            )
            for first, end in pairwise(_bounds(number, _PARTS * workers.threads))
        ]
        found = stack_refusals(workers.run(_STEP, jobs, progress))
        return self._summarize(Evidence.SEEDS, found, number, (self.alone.bytes_of(counts),))

    def _judge_halves(self, progress: Progress) -> HoldoutRefusals:
        """Chooses counts on each half and checks them on the other one."""
        parts, memory = [], []
        halves = count_steps(progress, _STEP, 2)
        for name, half, other in (("first", *_HALVES), ("second", *_HALVES[::-1])):
            part = self.alone.select(half)
            tell = partial(_tell_half, halves, name)
            counts = choose_counts(self.replay, part, self.goal, tell, half)
            parts.append(self.replay.run(counts).rows(other))
            memory.append(self.alone.bytes_of(counts))
        return self._summarize(Evidence.HALVES, stack_refusals(parts), 1, tuple(memory))

    def _summarize(
        self, evidence: Evidence, found: Refusals, draws: int, memory: tuple[int, ...]
    ) -> HoldoutRefusals:
        """Summarizes refusals; `draws` traces give `draws` times the independent looks of one."""
        pools = tuple(
            _chance(found, place, pool.demand, draws) for place, pool in enumerate(self.alone.pools)
        )
        overall = _chance(found.sum_pools(), 0, self.overall, draws)
        return HoldoutRefusals(evidence, draws, overall, pools, memory)


@dataclass(frozen=True, slots=True)
class _Draws:
    """Some draws of a trace and the pools to check on them: the argument of a worker's job."""

    spec: WorkloadSpec
    numbers: range  # of the draws, from 0 on
    shapes: Sequence[Shape]
    counts: Integers

    def events(self) -> Iterator[_engine.EventArray]:
        """The events of each draw: other seeds of the workload."""
        for i in self.numbers:
            yield generate_events(replace(self.spec, seed=(self.spec.seed + 1 + i) % 2**64))


def _tell_half(progress: Progress, name: str, _step: str, share: float) -> None:
    progress(name, share)


def _refusals_of(draws: _Draws) -> Refusals:
    """The refusals of each draw in a row."""
    return stack_refusals(
        [PoolReplay(events, draws.shapes).run(draws.counts).sum_rows() for events in draws.events()]
    )


def _bounds(count: int, parts: int) -> list[int]:
    """The bounds of at most `parts` nearly equal parts of `count` things."""
    parts = min(count, parts)
    return [count * i // parts for i in range(parts + 1)]


def _chance(found: Refusals, pool: int, demand: Demand, draws: int) -> Chance:
    share = found.share(pool)
    none_seen = rarest_shown(demand) / draws
    return Chance(share, *interval(share, found.shares(pool), none_seen))
