# SPDX-License-Identifier: Apache-2.0
"""Hold-out checks of pool counts: on data that they were not chosen on.

workload     other seeds of the same model                     as good as another run
recording    counts of each half, judged on the other half     as another day, if there was one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import pairwise

import numpy as np

from heapfit.progress import Progress, count_steps, ignore_progress
from heapfit.sizing.demand import BLOCKS, Demand, measure_units
from heapfit.sizing.pool_counts import choose_counts
from heapfit.sizing.pool_replay import PoolRefusals, PoolReplay, Shape, stack_refusals
from heapfit.sizing.run_out import Chance, rarest_shown
from heapfit.sizing.separate_pools import SeparatePools
from heapfit.sweep import Job, Sweep
from heapfit.trace.operations import Integers
from heapfit.trace.origin import WorkloadSpec
from heapfit.trace.stored import Trace
from heapfit.workloads.synthetic import generate_events, spec_of

STANDARD_SEEDS = 8
_STEP = "other draws"
_PARTS = 4  # for each worker
_HALVES = (slice(0, BLOCKS // 2), slice(BLOCKS // 2, BLOCKS))


class Evidence(StrEnum):
    """The kind of hold-out data."""

    SEEDS = "seeds"
    HALVES = "halves"


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


def judge_counts(
    trace: Trace,
    replay: PoolReplay,
    *,
    alone: SeparatePools,
    counts: Integers,
    draws: int | None,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
) -> HoldoutRefusals:
    """Checks counts on `draws` other seeds of a workload, 8 if None; of a recording on its halves.

    `draws` traces give `draws` times the independent looks of one.
    """
    overall = measure_units([trace], np.ones_like, progress)
    spec = spec_of(trace)
    if spec is None:
        evidence, number = Evidence.HALVES, 1
        found, memory = _refuse_on_halves(replay, alone, progress)
    else:
        evidence, number = Evidence.SEEDS, draws or STANDARD_SEEDS
        workers, memory = sweep or Sweep(1), (alone.bytes_of(counts),)
        work = partial(_refuse_on_seeds, spec, alone.shapes, counts)
        jobs = [
            Job(
                f"draws from {first} on",
                work,
                range(first, end),
                (),
                trace.info.events * (end - first),
            )
            for first, end in pairwise(_bounds(number, _PARTS * workers.threads))
        ]
        found = stack_refusals(workers.run(_STEP, jobs, progress))
    pools = tuple(
        _chance(found, place, pool.demand, number) for place, pool in enumerate(alone.pools)
    )
    return HoldoutRefusals(
        evidence, number, _chance(found.sum(1), 0, overall, number), pools, memory
    )


def _refuse_on_halves(
    replay: PoolReplay, alone: SeparatePools, progress: Progress
) -> tuple[PoolRefusals, tuple[int, ...]]:
    """Chooses counts on each half and checks them on the other one; with the bytes of each."""
    parts, memory = [], []
    tell_half = count_steps(progress, _STEP, 2)
    for name, half, other in (("first", *_HALVES), ("second", *_HALVES[::-1])):
        part = alone.select(half)
        counts = choose_counts(replay, part, partial(_tell_half, tell_half, name), half)
        parts.append(replay.run(counts).rows(other))
        memory.append(alone.bytes_of(counts))
    return stack_refusals(parts), tuple(memory)


def _tell_half(progress: Progress, name: str, _step: str, share: float) -> None:
    progress(name, share)


def _refuse_on_seeds(
    spec: WorkloadSpec, shapes: Sequence[Shape], counts: Integers, numbers: range
) -> PoolRefusals:
    """The refusals of other seeds of a workload, a row each; numbers are from 0 on."""
    seeds = ((spec.seed + 1 + i) % 2**64 for i in numbers)
    draws = (generate_events(replace(spec, seed=seed)) for seed in seeds)
    return stack_refusals([PoolReplay(draw, shapes).run(counts).sum(0) for draw in draws])


def _bounds(count: int, parts: int) -> list[int]:
    """The bounds of at most `parts` nearly equal parts of `count` things."""
    parts = min(count, parts)
    return [count * i // parts for i in range(parts + 1)]


def _chance(found: PoolRefusals, pool: int, demand: Demand, draws: int) -> Chance:
    return Chance.of(found.share(pool), found.shares(pool), rarest_shown(demand) / draws)
