# SPDX-License-Identifier: Apache-2.0
"""`heapfit size`: how much memory admits a share of the requests, of traffic or of a trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heapfit.cli import console
from heapfit.cli.arguments import (
    STANDARD_QUEUE,
    AsJson,
    DropUnknown,
    PointerBitsOption,
    Seed,
    import_options,
)
from heapfit.cli.opened_trace import opened_trace
from heapfit.errors import HeapfitError

if TYPE_CHECKING:
    from heapfit.progress import Progress
    from heapfit.sizing.from_traffic import Aim, SizedScheme, TrafficSizing
    from heapfit.sizing.pools import PoolSizing, SizedPool
    from heapfit.sizing.run_out import RunOut
    from heapfit.sizing.settings import Settings
    from heapfit.trace import Trace


class System(StrEnum):
    """Whose settings are printed."""

    LWIP = "lwip"
    ZEPHYR = "zephyr"
    OPENTHREAD = "openthread"
    FREERTOS = "freertos"


class By(StrEnum):
    """What is counted as admitted."""

    BYTES = "bytes"
    REQUESTS = "requests"


def command(
    source: Annotated[
        Path | None,
        typer.Argument(help="A stored trace, or a recording or capture to import first."),
    ] = None,
    traffic: Annotated[
        Path | None,
        typer.Option(
            "--traffic", help="Instead of a trace: a file with the [traffic] of a scenario."
        ),
    ] = None,
    admission: Annotated[
        float, typer.Option("--admission", help="Share of requests to admit.")
    ] = 0.999,
    settings: Annotated[
        System | None, typer.Option("--settings", help="Print this system's settings to copy.")
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option("--assume", help="NAME=VALUE instead of what is assumed of the system."),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="SIZE=SETTING: blocks of SIZE bytes have a pool of that name."),
    ] = None,
    sent: Annotated[
        bool, typer.Option("--sent", help="The packets are sent, not received.")
    ] = False,
    pools: Annotated[
        str | None, typer.Option("--pools", help="Sizes of the pools, as 64,512,1520.")
    ] = None,
    queue: Annotated[
        str | None,
        typer.Option(
            "--queue",
            help="When a captured packet leaves: fifo:PACKETS_PER_S, hold:exp:MEAN_US[:SEED], "
            "hold:fixed:US or fill-drain:N.",
        ),
    ] = None,
    by: Annotated[By, typer.Option("--by", help="What of traffic counts.")] = By.BYTES,
    overhead: Annotated[
        int, typer.Option("--overhead", min=0, max=4096, help="Bookkeeping a buffer, in bytes.")
    ] = 0,
    buffer: Annotated[
        int | None,
        typer.Option("--buffer", min=1, max=2**30, help="Of fixed buffers [the largest request]."),
    ] = None,
    exact: Annotated[
        bool, typer.Option("--exact", help="Closed forms alone, at once: nothing is simulated.")
    ] = False,
    curve: Annotated[
        bool, typer.Option("--curve", help="Other refusal probabilities too.")
    ] = False,
    replications: Annotated[
        int, typer.Option("--replications", min=2, max=10_000, help="Of a simulation.")
    ] = 8,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, max=1024, help="Threads [one for each processor]."),
    ] = None,
    seed: Seed = 1,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page with the curve.")
    ] = None,
    drop_unknown: DropUnknown = False,
    pointer_bits: PointerBitsOption = None,
    as_json: AsJson = False,
) -> None:
    """Size pools and heaps so that a share of requests is admitted, with the chance to run out."""
    if (source is None) == (traffic is None):
        raise typer.BadParameter("give a trace or capture, or --traffic FILE, and not both")
    if traffic is not None:
        from heapfit.sizing.from_traffic import Aim

        aim = Aim(
            admission, by.value, overhead, buffer, exact, replications, seed, curve or bool(report)
        )
        _size_traffic(traffic, aim, workers, report, as_json)
        return
    assert source is not None
    importing = import_options(queue or STANDARD_QUEUE, drop_unknown, pointer_bits)
    with console.progress() as progress, opened_trace(source, importing, progress) as trace:
        _require_queue(source, trace, queue)
        if settings is not None:
            wanted = (admission, _values(assume), _names(name), sent)
            _print_settings(trace, source.name, settings.value, wanted, progress, as_json)
        else:
            _size_trace(trace, source, admission, _sizes(pools), progress, report, as_json)


def _require_queue(source: Path, trace: Trace, queue: str | None) -> None:
    if trace.info.kind == "packets" and trace.path != source and queue is None:
        raise HeapfitError(
            f"{source}: a capture tells when packets come, not how long they stay (add --queue "
            "fifo:PACKETS_PER_S or --queue hold:exp:MEAN_US)"
        )


def _size_traffic(
    path: Path, aim: Aim, workers: int | None, report: Path | None, as_json: bool
) -> None:
    from heapfit.simulation.simulate import usable_workers
    from heapfit.simulation.traffic import load_traffic
    from heapfit.sizing.from_traffic import size_for

    traffic = load_traffic(path)
    with console.progress() as progress:
        found = size_for(traffic, aim, workers or usable_workers(), progress)
    if report is not None:
        from heapfit.report.sizing_page import write_traffic_page

        write_traffic_page(report, found, path)
    if as_json:
        console.out_json(_traffic_json(found, path))
    else:
        _print_traffic(found, path)


def _print_traffic(found: TrafficSizing, path: Path) -> None:
    aim = found.aim
    console.out(f"{path.name}: least memory that admits {aim.admission:g} of the {aim.by}")
    _print_schemes(found.schemes)
    if found.curve:
        console.out("")
        rows = [
            (one.name, f"{1 - one.admission:.1e}", one.memory)
            for one in found.curve
            if one.memory is not None
        ]
        console.out_table(("scheme", "refused", "memory"), rows)
    console.out(
        "memory: bytes, bookkeeping included; from, to: where 95 % confidence puts it; without"
    )
    console.out("them it is exact (Erlang-B for fixed_pool, Kaufman-Roberts for chained_pool).")


def _print_schemes(schemes: Sequence[SizedScheme]) -> None:
    rows = [
        (
            one.name,
            one.memory,
            None if one.memory is None or one.is_exact else one.lowest,
            None if one.memory is None or one.is_exact else one.highest,
            _what(one),
            None if one.memory is None else f"{1 - one.reached:.2e}",
        )
        for one in schemes
    ]
    columns = ("scheme", "memory", "from", "to", "made of", "refused")
    console.out_table(columns, rows)


def _what(sized: SizedScheme) -> str:
    """What a scheme is made of, in words."""
    if sized.scheme is None:
        return str(sized.why_not)
    plan, scalars = sized.scheme.plan, sized.scheme.plan.scalars
    if "blocks" in scalars:
        return f"{scalars['blocks']:,} x {scalars['block_size']:,} B"
    if "partitions" in scalars:
        return f"{scalars['partitions']:,} x {scalars['partition_size']:,} B"
    if plan.pools:
        return ", ".join(f"{pool.count} x {pool.size}" for pool in plan.pools)
    return "one heap"


def _traffic_json(found: TrafficSizing, path: Path) -> dict[str, Any]:
    aim = found.aim
    return {
        "traffic": str(path),
        "admission": aim.admission,
        "by": aim.by,
        "overhead": aim.overhead,
        "seed": aim.seed,
        "schemes": [_scheme_json(one) for one in found.schemes],
        "curve": [_scheme_json(one) for one in found.curve],
    }


def _scheme_json(one: SizedScheme) -> dict[str, Any]:
    from heapfit.plan import plan_table

    return {
        "scheme": one.name,
        "admission": one.admission,
        "memory": one.memory,
        "lowest": None if one.memory is None else one.lowest,
        "highest": None if one.memory is None else one.highest,
        "reached": one.reached,
        "half_width": one.half_width,
        "exact": one.is_exact,
        "plan": None if one.scheme is None else plan_table(one.scheme.plan),
        "why_not": one.why_not,
    }


def _size_trace(
    trace: Trace,
    source: Path,
    admission: float,
    sizes: Sequence[int],
    progress: Progress,
    report: Path | None,
    as_json: bool,
) -> None:
    from heapfit.sizing.pools import size_pools

    found = size_pools(trace, admission, sizes, progress)
    if report is not None:
        from heapfit.report.sizing_page import write_trace_page

        write_trace_page(report, found, trace.info, source)
    if as_json:
        console.out_json(_pools_json(found, trace))
    else:
        _print_pools(found, trace, source.name)


def _print_pools(found: PoolSizing, trace: Trace, name: str) -> None:
    from heapfit.sizing.settings import share_told

    queue = f", released by {trace.info.queue}" if trace.info.queue else ""
    console.out(
        f"{name}: {trace.info.events:,} events{queue}; {found.admission:g} of the requests to "
        "each pool admitted"
    )
    rows = [
        (
            f"{'=' if pool.is_exact else ''}{pool.size}",
            pool.demand.requests,
            pool.demand.peak,
            pool.run_out.count,
            pool.memory,
            share_told(pool.run_out.share) + ("*" if pool.run_out.is_beyond else ""),
            f"{share_told(pool.run_out.lowest)} to {share_told(pool.run_out.highest)}",
            None if pool.run_out.time_share is None else share_told(pool.run_out.time_share),
        )
        for pool in found.pools
    ]
    columns = ("pool", "requests", "most live", "count", "bytes", "runs out", "95 %", "time full")
    console.out_table(columns, rows)
    console.out(f"{found.memory:,} bytes of blocks together, bookkeeping not counted.")
    console.out("=40: for requests of just 40 bytes. runs out: share of the pool's requests that")
    console.out("need more than `count` blocks when none is ever refused, so an upper bound.")
    if found.is_beyond:
        console.out("* extrapolated: the trace is too short to show so rare an event; it shows no")
        console.out("  more than the end of the interval.")


def _pools_json(found: PoolSizing, trace: Trace) -> dict[str, Any]:
    return {
        "trace": trace.info.program or trace.info.source,
        "events": trace.info.events,
        "queue": trace.info.queue,
        "admission": found.admission,
        "memory": found.memory,
        "pools": [_pool_json(pool) for pool in found.pools],
        "curve": [
            {"admission": one.admission, "memory": one.memory, "beyond_trace": one.is_beyond}
            for one in found.curve()
        ],
    }


def _pool_json(pool: SizedPool) -> dict[str, Any]:
    return {
        "size": pool.size,
        "exact": pool.is_exact,
        "requests": pool.demand.requests,
        "most_live": pool.demand.peak,
        "independent_looks": pool.looks,
        "bytes": pool.memory,
        **_run_out_json(pool.run_out),
    }


def _run_out_json(found: RunOut) -> dict[str, Any]:
    return {
        "count": found.count,
        "runs_out": found.share,
        "lowest": found.lowest,
        "highest": found.highest,
        "beyond_trace": found.is_beyond,
        "time_full": found.time_share,
    }


def _print_settings(
    trace: Trace,
    name: str,
    system: str,
    wanted: tuple[float, Mapping[str, int], Mapping[int, str], bool],
    progress: Progress,
    as_json: bool,
) -> None:
    from heapfit.sizing.settings import as_text
    from heapfit.sizing.systems import Wanted, settings_for

    found = settings_for(system, trace, Wanted(*wanted), progress)
    if as_json:
        console.out_json(_settings_json(found, as_text(found, trace.info, name)))
        return
    for line in as_text(found, trace.info, name).splitlines():
        console.out(line)
    for choice in found.choices:
        console.note(
            f"{choice.buffer_size:,} B buffers: {choice.count:,} of them, {choice.memory:,} B"
        )
    for remark in found.remarks:
        console.note(remark)


def _settings_json(found: Settings, text: str) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "system": found.system,
        "admission": found.admission,
        "memory": found.memory,
        "settings": [
            {
                "name": one.name,
                "value": one.value,
                "default": one.standard,
                "run_out": None if one.run_out is None else _run_out_json(one.run_out),
            }
            for one in found.settings
        ],
        "choices": [asdict(one) for one in found.choices],
        "assumptions": [asdict(one) for one in found.assumptions],
        "remarks": list(found.remarks),
        "text": text,
    }


def _values(given: Sequence[str] | None) -> dict[str, int]:
    found = {}
    for text in given or ():
        name, sign, value = text.partition("=")
        if not sign or not value.isdecimal() or not value.isascii():
            raise HeapfitError(f"assume: {text} is not NAME=NUMBER")
        found[name] = int(value)
    return found


def _names(given: Sequence[str] | None) -> dict[int, str]:
    found = {}
    for text in given or ():
        size, sign, name = text.partition("=")
        if not sign or not (size.isdecimal() and size.isascii()) or not name.isidentifier():
            raise HeapfitError(f"name: {text} is not SIZE=SETTING, as 160=MEMP_NUM_TCP_PCB")
        if not 0 < int(size) < 2**31:
            raise HeapfitError(f"name: {size} bytes are no size of a block")
        found[int(size)] = name
    return found


def _sizes(text: str | None) -> list[int]:
    if text is None:
        return []
    parts = text.split(",")
    if not all(part.isdecimal() and part.isascii() and len(part) < 12 for part in parts):
        raise HeapfitError(f"pools: {text} is not SIZE,SIZE,... in bytes")
    return [int(part) for part in parts]
