# SPDX-License-Identifier: Apache-2.0
"""Pools for a trace or a capture, each with its chance to run out; and their page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from heapfit.plan.quantities import format_share
from heapfit.results.chart import COLOURS, Chart, Trace, line_with_marks, points
from heapfit.results.document import Document
from heapfit.results.number_text import count, size
from heapfit.results.parts import Cell, Column, Fields, Line, Part, Table, object_of, paragraph
from heapfit.results.run_out import RUN_OUT, format_interval
from heapfit.results.sizing import BYTES_HOVER, memory_chart, sizing_page
from heapfit.sizing.pools import PoolSizing, SizedPool
from heapfit.sizing.separate_pools import SeparatePool, SeparatePools
from heapfit.sizing.unseen import Chance, HoldoutRefusals
from heapfit.trace.stored import TraceInfo


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of the table: a pool, or all pools together."""

    name: str
    pool: SizedPool | None
    memory: int
    refused: float
    unseen: Chance

    def pool_figure(self, figure: Callable[[SizedPool], object]) -> object:
        """A figure of the row's pool; None for all pools together."""
        return None if self.pool is None else figure(self.pool)


def _rows(sizing: PoolSizing) -> list[_Row]:
    rows = [
        _Row(_name(pool.alone), pool, pool.memory, pool.refused, pool.unseen)
        for pool in sizing.pools
    ]
    return [*rows, _Row("all", None, sizing.memory, sizing.refused, sizing.unseen.overall)]


def _name(pool: SeparatePool) -> str:
    return f"{'=' if pool.is_exact else ''}{pool.size}"


def _name_size(row: _Row) -> Cell | None:
    if row.pool is None:
        return None
    return Cell(size(row.pool.size), ("exactly this size",) if row.pool.is_exact else ())


def _count_alone(row: _Row) -> Cell | None:
    if row.pool is None:
        return None
    alone = row.pool.alone.run_out
    return Cell(count(alone.count), ("extrapolated",) if alone.is_beyond else ())


_ROWS: tuple[Column[_Row], ...] = (
    Column(heading="pool", page="", shown=lambda row: row.name),
    Column(page="pool", shown=_name_size),
    Column(
        page="requests",
        shown=lambda row: row.pool_figure(lambda pool: pool.alone.demand.requests),
    ),
    Column(heading="count", shown=lambda row: row.pool_figure(lambda pool: pool.count)),
    Column(heading="bytes", page="memory", shown=lambda row: row.memory, told=size),
    Column(heading="refused", page="out of memory", shown=lambda row: format_share(row.refused)),
    Column(heading="hold-out", shown=lambda row: format_share(row.unseen.share)),
    Column(heading="95 %", page="hold-out, 95 %", shown=lambda row: format_interval(row.unseen)),
    Column(
        heading="alone",
        page="",
        shown=lambda row: row.pool_figure(lambda pool: format_share(pool.needs_more)),
    ),
    Column(
        heading="Erlang-B",
        page="",
        shown=lambda row: row.pool_figure(lambda pool: format_share(pool.erlang_b)),
    ),
    Column(page="count alone", shown=_count_alone),
)
_CHANCE: tuple[Column[Chance], ...] = (Column("share"), Column("lowest"), Column("highest"))
_UNSEEN: tuple[Column[HoldoutRefusals], ...] = (
    Column("evidence"),
    Column("draws"),
    Column("memory"),
    Column("overall"),
)
_ALONE_RUN_OUT: tuple[Column[SeparatePool], ...] = tuple(
    column.adapt(lambda pool: pool.run_out) for column in RUN_OUT
)
_ALONE: tuple[Column[SeparatePool], ...] = (
    Column(heading="pool", shown=_name),
    Column(heading="requests", shown=lambda pool: pool.demand.requests),
    Column(heading="most live", shown=lambda pool: pool.demand.peak),
    _ALONE_RUN_OUT[0],
    Column("bytes", "bytes", lambda pool: pool.memory),
    *_ALONE_RUN_OUT[1:],
)
_POOLS: tuple[Column[SizedPool], ...] = (
    Column("size"),
    Column("exact", value=lambda pool: pool.is_exact),
    Column("requests", value=lambda pool: pool.alone.demand.requests),
    Column("most_live", value=lambda pool: pool.alone.demand.peak),
    Column("independent_looks", value=lambda pool: pool.alone.looks),
    Column("count"),
    Column("bytes", value=lambda pool: pool.memory),
    Column("refused"),
    Column("unseen", value=lambda pool: object_of(_CHANCE, pool.unseen)),
    Column("needs_more"),
    Column("erlang_b"),
    Column("alone", value=lambda pool: object_of(_ALONE, pool.alone)),
)
_CURVE: tuple[Column[SeparatePools], ...] = (
    Column("admission"),
    Column("memory"),
    Column("beyond_trace", value=lambda at: at.is_beyond),
)


def pools_table(sizing: PoolSizing, info: TraceInfo, name: str) -> Iterator[Part]:
    """Tables of the pools: with fall-back to larger pools, and each alone."""
    yield Fields({"trace": info.program or info.source, "events": info.events})
    yield Fields({"queue": info.queue, "admission": sizing.admission})
    yield Fields({"memory": sizing.memory})
    yield Fields({"refused": sizing.refused, "unseen": object_of(_UNSEEN, sizing.unseen)})
    yield Table(_POOLS, sizing.pools, "pools")
    yield Fields({"memory_alone": sizing.alone.memory})
    yield Table(_CURVE, sizing.alone.curve(), "curve_alone")
    queue = f", released by {info.queue}" if info.queue else ""
    yield Line(
        f"{name}: {info.events:,} events{queue}; {sizing.admission:g} of the requests to each pool "
        "admitted"
    )
    yield Table(_ROWS, _rows(sizing))
    for sentence in _EXPLANATIONS:
        yield from paragraph(sentence)
    yield from paragraph(f"hold-out: {sizing.unseen.description}")
    yield Line("")
    yield Line("Each pool alone, without fall-back to larger pools:")
    yield Table(_ALONE, sizing.alone.pools)
    yield from paragraph(_describe_alone(sizing))


_EXPLANATIONS = (
    "=40: a pool for requests of exactly 40 bytes. bytes: of blocks, without bookkeeping.",
    "refused: share out of memory; requests of a full pool go to the next larger pool.",
    "alone: share that finds its pool full, with unlimited pools and no fall-back.",
    "Erlang-B: the same, if requests arrived independently.",
)


def _describe_alone(sizing: PoolSizing) -> str:
    saved = 1 - sizing.memory / sizing.alone.memory
    text = f"Pools alone take {sizing.alone.memory:,} bytes; with fall-back to larger pools " + (
        f"{format_share(saved)} less." if saved > 0 else "no less."
    )
    if not sizing.alone.is_beyond:
        return text
    return (
        f"{text} * extrapolated: the trace is too short for so rare an event. With fall-back, "
        "such a pool keeps this count."
    )


def pools_page(sizing: PoolSizing, subject: str, command: str) -> Document:
    """The page: memory against the chance to run out, and the pools."""
    chart = _draw_pools(
        sizing,
        "Bytes of the blocks of all pools, without bookkeeping. The point: pools with fall-back to "
        "larger ones, their counts chosen by replay. Dashed: a count is extrapolated, since the "
        "trace is too short for so rare an event. Hold-out: " + sizing.unseen.description,
    )
    return sizing_page(
        subject,
        (chart, Table(_ROWS, _rows(sizing)[:-1])),
        name=f"sizing from {subject}",
        aim=(sizing.admission, "requests"),
        verdict=f"Reserve {size(sizing.memory)} in {count(len(sizing.pools))} pools: they run out "
        f"for {format_share(sizing.refused)} of the trace's requests.",
        command=command,
    )


def _draw_pools(sizing: PoolSizing, caption: str) -> Chart:
    """The memory of all pools by the share refused: with fall-back, and without it as a curve.

    Beyond what the trace shows the line is dashed.
    """
    curve = sizing.alone.curve()
    shown = [one for one in curve if not one.is_beyond]
    beyond = [*shown[-1:], *(one for one in curve if one.is_beyond)]
    name, marker = "with fall-back to larger pools", {"color": COLOURS[0], "size": 10}
    curves = [
        _draw_curve("each alone", shown, "solid"),
        _draw_curve("extrapolated", beyond, "dash"),
        points(name, [1 - sizing.admission], [sizing.memory], marker) | BYTES_HOVER,
    ]
    return memory_chart(
        "Memory of all pools over the share of requests out of memory.",
        [one for one in curves if one["x"]],
        "share of requests out of memory",
        caption,
    )


def _draw_curve(name: str, sizings: Sequence[SeparatePools], dash: str) -> Trace:
    shares = [1 - one.admission for one in sizings]
    curve = line_with_marks(name, shares, [one.memory for one in sizings], COLOURS[1])
    curve["line"]["dash"] = dash
    return curve | BYTES_HOVER
