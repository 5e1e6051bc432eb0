# SPDX-License-Identifier: Apache-2.0
"""Pools for a trace with fall-back to larger pools: the least memory for an admission.

The counts are chosen by replaying the trace on finite pools, where a full pool's requests go to the
next larger one, and then judged on what they were not chosen on. docs/sizing.md has the
definitions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from heapfit import _engine
from heapfit.progress import Progress, ignore_progress
from heapfit.sizing.pool_counts import choose_counts, counts_without_fall_back
from heapfit.sizing.pool_replay import PoolReplay
from heapfit.sizing.run_out import Chance
from heapfit.sizing.separate_pools import SeparatePool, SeparatePools, size_separately
from heapfit.sizing.unseen import HoldoutRefusals, judge_counts
from heapfit.sweep import Sweep
from heapfit.trace.stored import Trace
from heapfit.trace.tabular import Tabular, arrow_table


@dataclass(frozen=True, slots=True)
class PoolOptions:
    """Options of `size_pools`."""

    sizes: Sequence[int] = ()  # bytes; none: those that `heapfit fit` would choose
    draws: int | None = None  # traces to judge on; None: 8 seeds of a workload, else halves


@dataclass(frozen=True, slots=True)
class SizedPool:
    """One pool of several. Shares are of the requests whose first choice it is."""

    alone: SeparatePool  # the same pool, if it never refused
    count: int
    count_without_fall_back: int  # that the trace needs without a fall-back to larger pools
    refused: float  # in the trace itself
    unseen: Chance

    @property
    def size(self) -> int:
        """Bytes of a block."""
        return self.alone.size

    @property
    def is_exact(self) -> bool:
        """True if the pool serves requests of just its size."""
        return self.alone.is_exact

    @property
    def is_beyond(self) -> bool:
        """True if the trace cannot show so rare a refusal, so that the count is extrapolated."""
        return self.alone.run_out.is_beyond

    @property
    def memory(self) -> int:
        """Bytes of its blocks, without any bookkeeping."""
        return self.size * self.count

    @property
    def erlang_b(self) -> float:
        """The blocking of Erlang-B: Poisson arrivals of the same offered load, no fall-back."""
        return _engine.erlang_b(self.count, self.alone.demand.offered)


@dataclass(frozen=True, slots=True, repr=False)
class PoolSizing(Tabular):
    """Every pool of a trace for one admission."""

    admission: float
    pools: tuple[SizedPool, ...]
    refused: float  # share of all requests of the trace itself
    unseen: HoldoutRefusals
    alone: SeparatePools
    serving: tuple[int, ...]  # counts in which all recorded requests find a block

    def __str__(self) -> str:
        return (
            f"pools: {len(self.pools)} of {self.memory:,} B for an admission of {self.admission:g}"
        )

    def to_arrow(self) -> pa.Table:
        """A row for each pool; shares are of the requests whose first choice it is."""
        return arrow_table(
            self.pools,
            {
                "size": lambda pool: pool.size,
                "is_exact": lambda pool: pool.is_exact,
                "count": lambda pool: pool.count,
                "memory": lambda pool: pool.memory,
                "refused": lambda pool: pool.refused,
                "refused_unseen": lambda pool: pool.unseen.share,
            },
        )

    @property
    def memory(self) -> int:
        """Bytes of all blocks."""
        return sum(pool.memory for pool in self.pools)

    @property
    def serving_memory(self) -> int:
        """Bytes of the counts in which all recorded requests find a block."""
        return sum(pool.size * count for pool, count in zip(self.pools, self.serving, strict=True))


def size_pools(
    trace: Trace,
    admission: float,
    options: PoolOptions | None = None,
    progress: Progress = ignore_progress,
    sweep: Sweep | None = None,
) -> PoolSizing:
    """Pools of least memory that admit this share in the trace, checked on hold-out draws.

    Draws are judged by the workers of `sweep`, or in this process; either finds the same.
    Pools nobody asks are left out. The trace is held in memory, 24 bytes an event.
    """
    wanted = options or PoolOptions()
    alone = size_separately(trace, admission, wanted.sizes, progress)
    replay = PoolReplay(trace.events(), alone.shapes)
    counts = choose_counts(replay, alone, progress)
    found = replay.run(counts)
    unseen = judge_counts(
        trace,
        replay,
        alone=alone,
        counts=counts,
        draws=wanted.draws,
        progress=progress,
        sweep=sweep,
    )
    serving = choose_counts(replay, alone.at(1.0)) if alone.is_beyond else counts
    pools = tuple(
        SizedPool(pool, count, own, found.share(place), unseen.pools[place])
        for place, (pool, count, own) in enumerate(
            zip(
                alone.pools,
                counts.tolist(),
                counts_without_fall_back(replay, alone).tolist(),
                strict=True,
            )
        )
    )
    return PoolSizing(
        admission, pools, found.sum(1).share(0), unseen, alone, tuple(serving.tolist())
    )
