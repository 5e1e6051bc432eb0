# SPDX-License-Identifier: Apache-2.0
"""`heapfit size`: pools for a trace or a capture, each with its chance to run out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from heapfit.cli.arguments import (
    Admission,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    QueueOfCapture,
    Source,
    import_options,
)
from heapfit.cli.printing.parts import Column, Fields, Line, Part, Table, out_result
from heapfit.cli.printing.progress import progress_bars
from heapfit.cli.printing.run_out import RUN_OUT
from heapfit.errors import HeapfitError
from heapfit.importers import opened_trace
from heapfit.sizing.demand import require_queue
from heapfit.sizing.pools import PoolSizing, SizedPool, size_pools
from heapfit.trace.stored import TraceInfo


def command(
    source: Source,
    admission: Admission = 0.999,
    pools: Annotated[
        str | None, typer.Option("--pools", help="Sizes of the pools, as 64,512,1520.")
    ] = None,
    queue: QueueOfCapture = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page with the curve.")
    ] = None,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Size a trace's pools to admit a share of requests, and tell how often they run out."""
    importing = import_options(queue, drop_unknown, pointer_bits)
    with progress_bars() as progress, opened_trace(source, importing, progress) as trace:
        require_queue(source, trace, queue)
        sizing = size_pools(trace, admission, _sizes(pools), progress)
    if report is not None:
        from heapfit.report.sizing import write_trace_page  # plotly takes long to load

        write_trace_page(report, sizing, source, _typed(source, sizing, pools, queue))
    out_result(_parts(sizing, trace.info, source.name), as_json)


def _sizes(text: str | None) -> list[int]:
    if text is None:
        return []
    parts = text.split(",")
    if not all(part.isdecimal() and part.isascii() and len(part) < 12 for part in parts):
        raise HeapfitError(f"pools: {text} is not SIZE,SIZE,... in bytes")
    return [int(part) for part in parts]


def _typed(source: Path, sizing: PoolSizing, pools: str | None, queue: str | None) -> str:
    """The command that gives this, with all that decides it."""
    words = ["heapfit", "size", str(source), "--admission", f"{sizing.admission:.15g}"]
    words += ["--pools", pools] if pools else []
    words += ["--queue", queue] if queue else []
    return shlex.join(words)


_CHANCE: tuple[Column[SizedPool], ...] = tuple(
    column.within(lambda pool: pool.run_out) for column in RUN_OUT
)
_COLUMNS: tuple[Column[SizedPool], ...] = (
    Column("size", "pool", shown=lambda pool: f"{'=' if pool.is_exact else ''}{pool.size}"),
    Column("exact", value=lambda pool: pool.is_exact),
    Column("requests", "requests", lambda pool: pool.demand.requests),
    Column("most_live", "most live", lambda pool: pool.demand.peak),
    Column("independent_looks", value=lambda pool: pool.looks),
    _CHANCE[0],
    Column("bytes", "bytes", lambda pool: pool.memory),
    *_CHANCE[1:],
)
_CURVE: tuple[Column[PoolSizing], ...] = (
    Column("admission"),
    Column("memory"),
    Column("beyond_trace", value=lambda at: at.is_beyond),
)


def _parts(sizing: PoolSizing, info: TraceInfo, name: str) -> Iterator[Part]:
    yield Fields({"trace": info.program or info.source, "events": info.events})
    yield Fields({"queue": info.queue, "admission": sizing.admission, "memory": sizing.memory})
    queue = f", released by {info.queue}" if info.queue else ""
    yield Line(
        f"{name}: {info.events:,} events{queue}; {sizing.admission:g} of the requests to each pool "
        "admitted"
    )
    yield Table(_COLUMNS, sizing.pools, "pools")
    yield Table(_CURVE, sizing.curve(), "curve")
    yield Line(f"{sizing.memory:,} bytes of blocks together, bookkeeping not counted.")
    yield Line("=40: for requests of just 40 bytes. runs out: share of the pool's requests that")
    yield Line("need more than `count` blocks when none is ever refused, so an upper bound.")
    if sizing.is_beyond:
        yield Line("* extrapolated: the trace is too short to show so rare an event; it shows no")
        yield Line("  more than the end of the interval.")
