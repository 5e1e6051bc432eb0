# SPDX-License-Identifier: Apache-2.0
"""The requests of the recorded program: sizes, lifetimes, and the blocks of each pool."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, TypeAlias

from heapfit.design.pools.special_pools import SPECIAL_PERCENT
from heapfit.drawing.chart import Extremes
from heapfit.drawing.number_text import count, mark_up, size, term
from heapfit.drawing.parts import (
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
from heapfit.plan.plan import Plan
from heapfit.plan.quantities import format_event, format_share
from heapfit.results.sections.candidate_charts import live_blocks_chart, live_chart
from heapfit.trace.live_blocks import live_blocks
from heapfit.trace.loaded import LoadedTrace
from heapfit.trace.profile import Profile

MOST_POOL_CHARTS = 16
POOL_CHART_POINTS = 100
MOST_SIZES = 20  # in the table


def program_section(shown: LoadedTrace, parts_of_heap: Sequence[Part]) -> Section:
    """The program of a recording; what its heap adds follows the tiles."""
    profile = shown.profile
    lives = _list_lives(profile)
    at = f"most live bytes, after {format_event(profile.u_max_event)}"
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
        size_table(profile, MOST_SIZES),
        Heading("Lifetimes"),
        Table(
            [Column(heading="events", shown=itemgetter(0)), *_share_columns(lives, "objects")],
            lives,
            caption="How many events objects live. Short lives make holes that the next request "
            "fills; what is never freed pins what lies around it.",
        ),
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
    pools = live_blocks(shown.events, plan, POOL_CHART_POINTS)
    largest = sorted(pools, key=lambda live: -live[0].size * live[0].count)[:MOST_POOL_CHARTS]
    words = mark_up(
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


_Size: TypeAlias = tuple[int, int, int]  # bytes, allocations, most live at once


def list_sizes(profile: Profile) -> list[_Size]:
    """Every size that was asked for, the most frequent first."""
    figures = (profile.sizes.tolist(), profile.allocations.tolist(), profile.peaks.tolist())
    return sorted(zip(*figures, strict=True), key=lambda row: (-row[1], row[0]))


def _list_lives(profile: Profile) -> list[tuple[str, int]]:
    """The objects by lifetime, in powers of two; those never freed last."""
    lives = enumerate(profile.lifetimes.tolist())
    rows = [(f"{1 << b:,} to {(2 << b) - 1:,}", objects) for b, objects in lives if objects]
    return [*rows, ("never freed", int(profile.never_freed))]


def _share_columns(rows: Sequence[Any], counted: str) -> list[Column[Any]]:
    """The counts of rows, and the share of each in all."""
    total = max(sum(row[1] for row in rows), 1)
    return [
        Column(heading=counted, shown=itemgetter(1)),
        Column(heading="share", shown=lambda row: format_share(row[1] / total)),
    ]


def size_table(profile: Profile, most: int) -> Table[_Size]:
    """So many of the sizes that were asked for most."""
    rows = list_sizes(profile)
    columns: list[Column[_Size]] = [
        Column(heading="size", page="size, bytes", shown=itemgetter(0)),
        *_share_columns(rows, "allocations"),
        Column(page="bytes asked for", shown=lambda row: row[0] * row[1], told=size),
        Column(heading="most live", page=term("p-max"), shown=itemgetter(2)),
        Column(heading="bytes then", page="", shown=lambda row: row[0] * row[2]),
    ]
    return Table(
        columns,
        rows[:most],
        caption=f"The sizes asked for most, of {count(len(rows))}. With {SPECIAL_PERCENT} % of "
        "the allocations or more a size is special: it may get a pool of its own.",
        look="cards numbers sortable",
    )
