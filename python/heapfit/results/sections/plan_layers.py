# SPDX-License-Identifier: Apache-2.0
"""A plan laid out for reading: its allocators, their tunables, the pools, the region to scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from heapfit import _engine
from heapfit.design.budgets.greedy_budgets import ALLOCATOR as BUDGETED
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import PlanFile, plan_text
from heapfit.results.number_text import count

NARROWEST_LABEL = 0.06  # of the region: narrower pieces of the strip stay without a label


@dataclass(frozen=True, slots=True)
class ScalarRow:
    """A scalar of the plan, with its standard value if the plan sets none."""

    name: str
    value: int
    meaning: str


@dataclass(frozen=True, slots=True)
class PoolShare:
    """A pool with its bytes in the region."""

    size: int
    count: int
    serves: str
    bytes: int
    share: float | None  # of the region; None where there is no region


@dataclass(frozen=True, slots=True)
class StripPiece:
    """A part of the region in the strip."""

    name: str
    label: str
    bytes: int
    style: str


@dataclass(frozen=True, slots=True)
class Layer:
    """One allocator of the plan: the chosen one, or the shared one below it."""

    role: str
    allocator: str
    title: str
    origin: str
    tunables: tuple[ScalarRow, ...]
    pools: tuple[PoolShare, ...]
    strip: tuple[StripPiece, ...]


@dataclass(frozen=True, slots=True)
class PlanPart:
    """A plan, and its file's text."""

    layers: tuple[Layer, ...]
    lines: tuple[str, ...]
    heap: str = ""  # the system's heap that places its blocks so; "": it is a plan to generate


def plan_part(plan_file: PlanFile, region: int | None) -> PlanPart:
    """The plan with its pools drawn in a region of so many bytes."""
    lines = tuple(plan_text(plan_file).splitlines())
    return PlanPart(plan_layers(plan_file.plan, region), lines, plan_file.heap)


def plan_layers(plan: Plan, region: int | None) -> tuple[Layer, ...]:
    """The plan's allocators from the outermost in."""
    known = {info.name: info for info in _engine.allocators()}
    return tuple(_layer(one, known[one.allocator], region, depth) for depth, one in _levels(plan))


def _levels(plan: Plan) -> Iterator[tuple[int, Plan]]:
    depth = 0
    level: Plan | None = plan
    while level is not None:
        yield depth, level
        depth, level = depth + 1, level.shared


def _layer(plan: Plan, info: _engine.AllocatorInfo, region: int | None, depth: int) -> Layer:
    pools = _pool_rows(plan, region)
    return Layer(
        role="Allocator" if depth == 0 else "Shared allocator, for requests that no pool serves",
        allocator=plan.allocator,
        title=info.title[:1].upper() + info.title[1:],
        origin=info.origin,
        tunables=tuple(
            ScalarRow(t.name, plan.scalars.get(t.name, t.standard), t.meaning)
            for t in info.tunables
            if t.kind == "scalar"
        ),
        pools=pools,
        strip=_strip(plan, pools, region) if depth == 0 else (),
    )


def _pool_rows(plan: Plan, region: int | None) -> tuple[PoolShare, ...]:
    rows = []
    for pool in plan.filled_pools:
        taken = -(-pool.size // plan.alignment) * plan.alignment * pool.count
        share = None if region is None else taken / region
        rows.append(PoolShare(pool.size, pool.count, _describe_requests(plan, pool), taken, share))
    return tuple(rows)


def _describe_requests(plan: Plan, pool: Pool) -> str:
    """The requests that the pool serves, by the allocator's own choice."""
    if not pool.is_exact:
        return "what fits"
    return (
        "requests that round up to this size" if plan.allocator == BUDGETED else "exactly this size"
    )


def _strip(plan: Plan, pools: tuple[PoolShare, ...], region: int | None) -> tuple[StripPiece, ...]:
    """The region from its start: control structures, the pools in order, the rest."""
    if not pools or region is None:
        return ()
    control = plan.engine().pools[0][-1]  # the first pool's base
    rest = region - control - sum(pool.bytes for pool in pools)
    pieces = [
        _piece("control", control, region, "rest"),
        *(_piece(f"{count(pool.size)} B", pool.bytes, region, "pool") for pool in pools),
        _piece("shared", rest, region, "rest"),
    ]
    return tuple(piece for piece in pieces if piece.bytes > 0)


def _piece(name: str, size: int, region: int, style: str) -> StripPiece:
    return StripPiece(name, name if size >= NARROWEST_LABEL * region else "", size, style)
