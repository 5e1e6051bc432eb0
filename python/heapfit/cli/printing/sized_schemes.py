# SPDX-License-Identifier: Apache-2.0
"""The least memory of each scheme that admits a share of offered traffic."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from heapfit.plan.plan import plan_table
from heapfit.results.parts import Column, Fields, Line, Part, Table, object_of
from heapfit.sizing.from_traffic import SizedScheme, TrafficSizing


def _end(sized: SizedScheme, end: int) -> int | None:
    """An end of the confidence interval, where there is one."""
    return None if sized.memory is None or sized.is_exact else end


def _plan(sized: SizedScheme) -> dict[str, object] | None:
    return None if sized.scheme is None else plan_table(sized.scheme.plan)


def _describe_scheme(sized: SizedScheme) -> str:
    """What a scheme is made of, in words."""
    if sized.scheme is None:
        return sized.why_not
    plan, scalars = sized.scheme.plan, sized.scheme.plan.scalars
    if "blocks" in scalars:
        return f"{scalars['blocks']:,} x {scalars['block_size']:,} B"
    if "partitions" in scalars:
        return f"{scalars['partitions']:,} x {scalars['partition_size']:,} B"
    if plan.filled_pools:
        blocks = sum(pool.count for pool in plan.pools)
        return f"{len(plan.filled_pools)} pools, {blocks:,} blocks"
    return "one heap"


_COLUMNS: tuple[Column[SizedScheme], ...] = (
    Column("scheme", "scheme", lambda sized: sized.name),
    Column("admission"),
    Column("memory", "memory"),
    Column(
        "lowest",
        "from",
        lambda sized: None if sized.memory is None else sized.lowest,
        lambda sized: _end(sized, sized.lowest),
    ),
    Column(
        "highest",
        "to",
        lambda sized: None if sized.memory is None else sized.highest,
        lambda sized: _end(sized, sized.highest),
    ),
    Column(heading="made of", shown=_describe_scheme),
    Column(
        "reached",
        "refused",
        shown=lambda sized: None if sized.memory is None else f"{1 - sized.reached:.2e}",
    ),
    Column("half_width"),
    Column(
        "unseen",
        "hold-out",
        shown=lambda sized: None if sized.unseen is None else f"{1 - sized.unseen:.2e}",
    ),
    Column("unseen_half_width"),
    Column("exact", value=lambda sized: sized.is_exact),
    Column("plan", value=_plan),
    Column("why_not"),
)
_CURVE_COLUMNS: tuple[Column[SizedScheme], ...] = (
    Column(heading="scheme", shown=lambda sized: sized.name),
    Column(heading="refused", shown=lambda sized: f"{1 - sized.admission:.1e}"),
    Column(heading="memory", shown=lambda sized: sized.memory),
)


def schemes_table(sizing: TrafficSizing, path: Path) -> Iterator[Part]:
    """Each kind of scheme, least memory first, and the curve if there is one."""
    aim = sizing.aim
    yield Fields({"traffic": path, "admission": aim.admission, "seed": aim.seed})
    yield Line(f"{path.name}: least memory that admits {aim.admission:g} of the bytes")
    yield Table(_COLUMNS, sizing.schemes, "schemes")
    yield Fields({"curve": [object_of(_COLUMNS, sized) for sized in sizing.curve]})
    if sizing.curve:
        yield Line("")
        yield Table(_CURVE_COLUMNS, [sized for sized in sizing.curve if sized.memory is not None])
    yield Line(
        "memory: bytes, bookkeeping included; from, to: its 95 % confidence interval. "
        "Without one it is exact (Erlang-B for fixed_pool, Kaufman-Roberts for chained_pool)."
    )
    yield Line("hold-out: share refused in as many other runs, which took no part in the sizing.")
