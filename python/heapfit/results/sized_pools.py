# SPDX-License-Identifier: Apache-2.0
"""Pools for a trace or a capture, each with its chance to run out; and their page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from heapfit.drawing.chart import COLOURS, Chart, Trace, line_with_marks, points
from heapfit.drawing.document import Document
from heapfit.drawing.number_text import size
from heapfit.drawing.parts import Cell, Column, Fields, Line, Part, Table, columns, object_of
from heapfit.plan.quantities import format_count, format_share
from heapfit.results.sizing import BYTES_HOVER, memory_chart, sizing_page
from heapfit.sizing.pools import PoolSizing, SizedPool
from heapfit.sizing.run_out import Chance, RunOut, rarest_shown
from heapfit.sizing.separate_pools import SeparatePool, SeparatePools
from heapfit.sizing.settings import describe_sources
from heapfit.trace.stored import TraceInfo

_Row: TypeAlias = tuple[SizedPool | None, PoolSizing]  # a pool of them; None: all together


def _rows(sizing: PoolSizing) -> list[_Row]:
    return [*((pool, sizing) for pool in sizing.pools), (None, sizing)]


def _name(pool: SeparatePool) -> str:
    return f"{'=' if pool.is_exact else ''}{pool.size}"


def _read_pool(figure: Callable[[SizedPool], object]) -> Callable[[_Row], object]:
    """A figure of the row's pool; None for all pools together."""
    return lambda row: None if row[0] is None else figure(row[0])


def _unseen(row: _Row) -> Chance:
    return row[1].unseen.overall if row[0] is None else row[0].unseen


def _interval(chance: Chance) -> str:
    return f"{format_share(chance.lowest)} to {format_share(chance.highest)}"


_ROWS: tuple[Column[_Row], ...] = (
    Column(
        heading="pool",
        page="",
        shown=lambda row: _name(row[0].alone) + "*" * row[0].is_beyond if row[0] else "all",
    ),
    Column(
        page="pool",
        shown=_read_pool(
            lambda one: Cell(size(one.size) + "*" * one.is_beyond, ("exact size",) * one.is_exact)
        ),
    ),
    Column(page="requests", shown=_read_pool(lambda pool: pool.alone.demand.requests)),
    Column(heading="count", shown=_read_pool(lambda pool: pool.count)),
    Column(
        heading="alone",
        page="without fall-back",
        shown=lambda row: row[0].count_without_fall_back if row[0] else None,
    ),
    Column(heading="bytes", page="memory", shown=lambda row: (row[0] or row[1]).memory, told=size),
    Column(
        heading="refused",
        page="out of memory",
        shown=lambda row: format_share((row[0] or row[1]).refused),
    ),
    Column(heading="hold-out", shown=lambda row: format_share(_unseen(row).share)),
    Column(heading="95 %", page="hold-out, 95 %", shown=lambda row: _interval(_unseen(row))),
    Column(heading="Erlang-B", page="", shown=_read_pool(lambda pool: format_share(pool.erlang_b))),
)
# How often a count runs out, of a pool or of a setting.
RUN_OUT: tuple[Column[RunOut], ...] = (
    Column("count"),
    Column("runs_out", value=lambda run_out: run_out.share),
    Column("lowest"),
    Column("highest"),
    Column("independent"),
    Column("in_bursts"),
    Column("beyond_trace", value=lambda run_out: run_out.is_beyond),
)
_CHANCE = columns("share", "lowest", "highest")
_UNSEEN = columns("evidence", "draws", "memory", "overall")
_ALONE: tuple[Column[SeparatePool], ...] = (
    Column("bytes", value=lambda pool: pool.memory),
    *(column.adapt(lambda pool: pool.run_out) for column in RUN_OUT),
)
_POOLS: tuple[Column[SizedPool], ...] = (
    Column("size"),
    Column("exact", value=lambda pool: pool.is_exact),
    Column("requests", value=lambda pool: pool.alone.demand.requests),
    Column("most_live", value=lambda pool: pool.alone.demand.peak),
    Column("independent_looks", value=lambda pool: pool.alone.looks),
    *columns("count", "count_without_fall_back"),
    Column("bytes", value=lambda pool: pool.memory),
    Column("refused"),
    Column("unseen", value=lambda pool: object_of(_CHANCE, pool.unseen)),
    Column("erlang_b"),
    Column("alone", value=lambda pool: object_of(_ALONE, pool.alone)),
)
_CURVE: tuple[Column[SeparatePools], ...] = (
    Column("admission"),
    Column("memory"),
    Column("beyond_trace", value=lambda at: at.is_beyond),
)


def pools_table(sizing: PoolSizing, info: TraceInfo, name: str) -> list[Part]:
    """A table of the pools, with fall-back to larger ones; the JSON has each alone, too."""
    return [
        Fields({"trace": info.program or info.source, "events": info.events, "queue": info.queue}),
        Fields({one: getattr(sizing, one) for one in ("admission", "memory", "refused")}),
        Fields({"unseen": object_of(_UNSEEN, sizing.unseen)}),
        Table(_POOLS, sizing.pools, "pools"),
        Fields({"memory_alone": sizing.alone.memory}),
        Table(_CURVE, sizing.alone.curve(), "curve_alone"),
        Line(_answer(sizing)),
        Line(
            f"{describe_sources([(Path(name), info)])}: each pool is to serve "
            f"{sizing.admission * 100:.10g} % of its requests."
        ),
        Table(_ROWS, _rows(sizing)),
        *(
            Line(f"{_name(pool.alone)}: a pool for requests of exactly {pool.size} bytes.")
            for pool in [one for one in sizing.pools if one.is_exact][:1]
        ),
        Line("bytes: of blocks, without bookkeeping."),
        Line("alone: the blocks that serve where none may take a larger one."),
        Line("refused: share out of memory; requests of a full pool go to the next larger pool."),
        Line("Erlang-B: of each pool alone, if requests arrived independently."),
        Line(f"hold-out: {sizing.unseen.description}"),
        *([Line(_describe_extrapolated(sizing))] if sizing.alone.is_beyond else []),
    ]


def _describe_extrapolated(sizing: PoolSizing) -> str:
    """Why counts that are extrapolated are so high, and which ones served the whole trace."""
    pools = [one for one in sizing.pools if one.is_beyond]
    return (
        f"* beyond what this trace shows: no share below "
        f"{format_share(min(rarest_shown(one.alone.demand) for one in pools))} of a pool's "
        f"requests, as these tell as much as {max(one.alone.looks for one in pools):,.0f} "
        f"independent ones at most. So both counts are the most that it held at once, or above "
        f"that, where its tail goes on. {'/'.join(map(str, sizing.serving))} blocks "
        f"({size(sizing.serving_memory)}) served all that was recorded: --admission 1."
    )


def _answer(sizing: PoolSizing) -> str:
    """The memory, and how many of the recorded requests find none."""
    none = f"{format_share(sizing.refused)} of the recorded requests find no block"
    fewer = f", as in {size(sizing.serving_memory)}" * (sizing.serving_memory < sizing.memory)
    alone = sum(one.size * one.count_without_fall_back for one in sizing.pools)
    larger = f"; {size(alone)} where none may take a larger one" * (alone > sizing.memory)
    return (
        f"Set aside {size(sizing.memory)} in {format_count(len(sizing.pools), 'pool')}: "
        f"{none if sizing.refused else f'all recorded requests find a block{fewer}'}{larger}."
    )


def pools_page(sizing: PoolSizing, subject: str, command: str) -> Document:
    """The page: memory against the chance to run out, and the pools."""
    caption = _describe_extrapolated(sizing) if sizing.alone.is_beyond else ""
    return sizing_page(
        subject,
        (_draw_pools(sizing), Table(_ROWS, _rows(sizing)[:-1], caption=caption)),
        name=f"sizing from {subject}",
        aim=(sizing.admission, "requests"),
        verdict=_answer(sizing),
        command=command,
    )


def _draw_pools(sizing: PoolSizing) -> Chart:
    """The memory of all pools by the share refused: with fall-back, and without it as a curve.

    Beyond what the trace shows the line is dashed.
    """
    curve = sizing.alone.curve()
    shown = [one for one in curve if not one.is_beyond]
    beyond = [*shown[-1:], *(one for one in curve if one.is_beyond)]
    chosen = points(
        "with fall-back to larger pools",
        [1 - sizing.admission],
        [sizing.memory],
        {"color": COLOURS[0], "size": 10},
    )
    curves = [
        _draw_curve("each alone", shown, "solid"),
        _draw_curve("extrapolated", beyond, "dash"),
        chosen | BYTES_HOVER,
    ]
    return memory_chart(
        "Memory of all pools over the share of requests out of memory.",
        [one for one in curves if one["x"]],
        "share of requests out of memory",
        "Bytes of the blocks of all pools, without bookkeeping. The point: pools with fall-back to "
        "larger ones, their counts chosen by replay. Dashed: a count is extrapolated, since the "
        f"trace shows no event so rare. Hold-out: {sizing.unseen.description}",
    )


def _draw_curve(name: str, sizings: Sequence[SeparatePools], dash: str) -> Trace:
    shares = [1 - one.admission for one in sizings]
    curve = line_with_marks(name, shares, [one.memory for one in sizings], COLOURS[1])
    curve["line"]["dash"] = dash
    return curve | BYTES_HOVER
