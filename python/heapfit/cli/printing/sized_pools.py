# SPDX-License-Identifier: Apache-2.0
"""Pools for a trace or a capture, each with its chance to run out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from heapfit.cli.printing.run_out import RUN_OUT, format_interval
from heapfit.plan.quantities import format_share
from heapfit.results.parts import Column, Fields, Line, Part, Table, object_of, paragraph
from heapfit.sizing.pools import PoolSizing, SizedPool
from heapfit.sizing.separate_pools import SeparatePool, SeparatePools
from heapfit.sizing.unseen import Chance, HoldoutRefusals
from heapfit.trace.stored import TraceInfo


def _name(pool: SeparatePool) -> str:
    return f"{'=' if pool.is_exact else ''}{pool.size}"


_HEADINGS = ("pool", "count", "bytes", "refused", "hold-out", "95 %", "alone", "Erlang-B")
_ROWS: tuple[Column[Sequence[object]], ...] = tuple(
    Column(heading=heading, shown=itemgetter(place)) for place, heading in enumerate(_HEADINGS)
)


def _rows(sizing: PoolSizing) -> Iterator[Sequence[object]]:
    """The cells of each pool, and of all pools together."""
    for pool in sizing.pools:
        shares = format_share(pool.needs_more), format_share(pool.erlang_b)
        held_out = _refusals(pool.refused, pool.unseen)
        yield _name(pool.alone), pool.count, pool.memory, *held_out, *shares
    yield "all", None, sizing.memory, *_refusals(sizing.refused, sizing.unseen.overall), None, None


def _refusals(refused: float, unseen: Chance) -> tuple[str, str, str]:
    return format_share(refused), format_share(unseen.share), format_interval(unseen)


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
    yield Table(_ROWS, [*_rows(sizing)])
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
