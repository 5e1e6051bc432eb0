# SPDX-License-Identifier: Apache-2.0
"""The requests of the recorded program: sizes, lifetimes, and the blocks of each pool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from heapfit.design.pools.special_pools import SPECIAL_PERCENT, special_sizes
from heapfit.plan.plan import Plan
from heapfit.results.chart import Extremes
from heapfit.results.number_text import count, marked, percent, size, term
from heapfit.results.parts import (
    Column,
    Grid,
    Group,
    Heading,
    Line,
    NamedFigure,
    Part,
    Section,
    Table,
    Tiles,
)
from heapfit.results.sections.candidate_charts import live_chart
from heapfit.results.sections.size_charts import (
    SMALL_CHART_POINTS,
    lifetime_chart,
    live_blocks_chart,
    size_chart,
)
from heapfit.trace.live_blocks import live_blocks
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile

MOST_POOL_CHARTS = 16


def program_section(shown: LoadedTrace, parts_of_heap: Sequence[Part]) -> Section:
    """The program of a recording; what its heap adds follows the tiles."""
    profile = shown.profile
    special = special_sizes(profile)
    at = f"most live bytes, at event {count(profile.u_max_event)}"
    parts: list[Part] = [
        Tiles(
            [
                NamedFigure("events", count(profile.events), _operations(profile)),
                NamedFigure(term("u-max"), size(profile.u_max), at),
                NamedFigure("live blocks", count(profile.live_blocks_max), "most at once"),
            ]
        ),
        *parts_of_heap,
        Heading("Request sizes"),
        size_chart(profile, special, SPECIAL_PERCENT / 100),
        Table(_special_columns(profile), rows, caption="Special sizes.")
        if (rows := _special_rows(profile, special))
        else Line(
            f"No size has that share: {count(len(profile.sizes))} sizes, none of them special."
        ),
        Heading("Lifetimes"),
        lifetime_chart(profile),
    ]
    title = "The program: memory over time, sizes, lifetimes"
    return Section("program", title, parts, "The program", is_folded=True)


def live_parts(shown: LoadedTrace, region: int) -> list[Part]:
    """Live bytes below the size of a region, where no candidate's footprint is drawn over them."""
    return [Heading("Live bytes"), live_chart(shown.profile, region)]


def pools_section(shown: LoadedTrace, plan: Plan) -> Section | None:
    """The live blocks of each pool of a plan against those that it sets aside; None without any."""
    if not plan.filled_pools:
        return None
    pools = live_blocks(shown.events, plan, SMALL_CHART_POINTS)
    largest = sorted(pools, key=lambda live: -live[0].size * live[0].count)[:MOST_POOL_CHARTS]
    words = marked(
        "Blue: {}, the requests live at once, from the lowest to the highest within each step. "
        "Dashed: {}, the blocks the plan reserves. Requests above the dashed line are served by "
        "the shared allocator.",
        term("p"),
        term("n"),
    )
    parts: list[Part] = [Line(words)]
    if len(pools) > len(largest):
        parts.append(
            Line(
                f"Shown are the {len(largest)} pools with the most bytes, of {len(pools)}; the "
                "plan below lists all."
            )
        )
    charts = [
        live_blocks_chart(pool, Extremes(*steps), number=number, events=shown.profile.events)
        for number, (pool, *steps) in enumerate(sorted(largest, key=lambda live: live[0].size))
    ]
    parts.append(Grid([Group("", [chart]) for chart in charts]))
    return Section("pools", "Live blocks of each pool", parts, "Live blocks")


def _operations(profile: Profile) -> str:
    alloc, zeroed, aligned, resizes, frees = profile.operations.tolist()
    allocations = alloc + zeroed + aligned
    return f"alloc {count(allocations)} · free {count(frees)} · resize {count(resizes)}"


_Special: TypeAlias = tuple[int, int, int]  # size, allocations, most live at once


def _special_rows(profile: Profile, special: Sequence[int]) -> list[_Special]:
    figures = (profile.sizes.tolist(), profile.allocations.tolist(), profile.peaks.tolist())
    return [row for row in zip(*figures, strict=True) if max(row[0], 1) in special]


def _special_columns(profile: Profile) -> list[Column[_Special]]:
    total = max(int(profile.allocations.sum()), 1)
    return [
        Column(page="size", shown=lambda row: row[0], told=size),
        Column(page="allocations", shown=lambda row: row[1]),
        Column(page="share", shown=lambda row: row[1] / total, told=percent),
        Column(page="bytes asked for", shown=lambda row: row[0] * row[1], told=size),
        Column(page=term("p-max"), shown=lambda row: row[2]),
    ]
