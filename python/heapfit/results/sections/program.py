# SPDX-License-Identifier: Apache-2.0
"""The requests of the recorded program: sizes, lifetimes, and the blocks of each pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heapfit.design.pools.special_pools import SPECIAL_PERCENT, special_sizes
from heapfit.plan.plan import Plan
from heapfit.results.chart import Chart
from heapfit.results.live_blocks import LiveBlocks, live_blocks
from heapfit.results.number_text import count, size
from heapfit.results.sections.candidate_charts import live_chart
from heapfit.results.sections.size_charts import (
    SMALL_CHART_POINTS,
    lifetime_chart,
    live_blocks_chart,
    size_chart,
)
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile

MOST_POOL_CHARTS = 16


@dataclass(frozen=True, slots=True)
class SpecialSize:
    """A size with at least the special share of the allocations."""

    size: int
    allocations: int
    share: float
    peak: int  # P_i,max


@dataclass(frozen=True, slots=True)
class PoolChart:
    """Live blocks of one pool, one of many small charts."""

    title: str
    remark: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class ProgramPart:
    """A recording's requests, and the pools of a plan."""

    profile: Profile
    operations: str
    special_percent: int
    special: tuple[SpecialSize, ...]
    distinct: int
    live: Chart | None  # live bytes alone, where no candidate's footprint is drawn over them
    sizes: Chart
    lifetimes: Chart
    pool_charts: tuple[PoolChart, ...]
    pool_count: int

    @property
    def charts(self) -> list[Chart]:
        """The charts of the pools, of live bytes, of sizes and of lifetimes."""
        pools = [pool.chart for pool in self.pool_charts]
        return [*pools, *([self.live] if self.live else []), self.sizes, self.lifetimes]


def program_of(shown: LoadedTrace, plan: Plan, region: int | None = None) -> ProgramPart:
    """The program of a recording; with `region`, live bytes are drawn below that size."""
    profile = shown.profile
    special = special_sizes(profile)
    pools = live_blocks(shown.events, plan, SMALL_CHART_POINTS)
    return ProgramPart(
        profile=profile,
        operations=_operations(profile),
        special_percent=SPECIAL_PERCENT,
        special=_special_rows(profile, special),
        distinct=len(profile.sizes),
        live=None if region is None else live_chart(profile, region),
        sizes=size_chart(profile, special, SPECIAL_PERCENT / 100),
        lifetimes=lifetime_chart(profile),
        pool_charts=_pool_charts(pools, profile.events),
        pool_count=len(pools),
    )


def _operations(profile: Profile) -> str:
    alloc, zeroed, aligned, resizes, frees = profile.operations.tolist()
    allocations = alloc + zeroed + aligned
    return f"alloc {count(allocations)} · free {count(frees)} · resize {count(resizes)}"


def _special_rows(profile: Profile, special: Sequence[int]) -> tuple[SpecialSize, ...]:
    total = max(int(profile.allocations.sum()), 1)
    figures = zip(
        profile.sizes.tolist(), profile.allocations.tolist(), profile.peaks.tolist(), strict=True
    )
    return tuple(
        SpecialSize(request, allocations, allocations / total, peak)
        for request, allocations, peak in figures
        if max(request, 1) in special
    )


def _pool_charts(pools: Sequence[LiveBlocks], events: int) -> tuple[PoolChart, ...]:
    """The pools with the most bytes, in order of size."""
    largest = sorted(pools, key=lambda live: -live.pool.size * live.pool.count)[:MOST_POOL_CHARTS]
    shown = sorted(largest, key=lambda live: live.pool.size)
    return tuple(
        PoolChart(
            title=size(live.pool.size) if live.pool.is_exact else f"up to {size(live.pool.size)}",
            remark=f"{count(live.pool.count)} reserved, at most {count(live.peak)} live",
            chart=live_blocks_chart(live, number, events),
        )
        for number, live in enumerate(shown)
    )
