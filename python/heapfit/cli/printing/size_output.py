# SPDX-License-Identifier: Apache-2.0
"""What `heapfit size` prints: schemes for traffic, pools for a trace, settings of a system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from heapfit.cli.printing import console
from heapfit.plan.plan import plan_table
from heapfit.sizing.from_traffic import SizedScheme, TrafficSizing
from heapfit.sizing.pools import PoolSizing, SizedPool
from heapfit.sizing.run_out import RunOut
from heapfit.sizing.settings import Settings, share_told
from heapfit.trace.stored import Trace


def print_traffic(found: TrafficSizing, path: Path) -> None:
    """Each kind of scheme, least memory first, and the curve if there is one."""
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
        blocks = sum(pool.count for pool in plan.pools)
        return f"{len(plan.pools)} pools, {blocks:,} blocks"
    return "one heap"


def traffic_json(found: TrafficSizing, path: Path) -> dict[str, Any]:
    """The same as JSON."""
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


def print_pools(found: PoolSizing, trace: Trace, name: str) -> None:
    """Each pool with its count and the chance to run out."""
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


def pools_json(found: PoolSizing, trace: Trace) -> dict[str, Any]:
    """The same as JSON, with the curve."""
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


def print_settings(found: Settings, text: str) -> None:
    """The text to copy on stdout, what else was found on stderr."""
    for line in text.splitlines():
        console.out(line)
    for choice in found.choices:
        console.note(
            f"{choice.buffer_size:,} B buffers: {choice.count:,} of them, {choice.memory:,} B"
        )
    for remark in found.remarks:
        console.note(remark)


def settings_json(found: Settings, text: str) -> dict[str, Any]:
    """The settings and all they rest on as JSON."""
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
