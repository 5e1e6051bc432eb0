# SPDX-License-Identifier: Apache-2.0
"""A plan laid out for reading: its allocators, their tunables, the pools, the region to scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from heapfit import _engine
from heapfit.design.budgets.greedy_budgets import ALLOCATOR as BUDGETED
from heapfit.drawing.number_text import count, mark_up, percent, size, term
from heapfit.drawing.parts import (
    Column,
    Copyable,
    Heading,
    Line,
    Part,
    Piece,
    Section,
    Strip,
    Table,
    paragraph,
)
from heapfit.plan.allocators import info_of
from heapfit.plan.plan import Plan, Pool
from heapfit.plan.plan_file import PlanFile, plan_text

NARROWEST_LABEL = 0.06  # of the region: narrower pieces of the strip stay without a label


def plan_section(
    plan: Plan, region: int | None, lines: Sequence[str] = (), heap: str = ""
) -> Section:
    """The plan with its pools drawn in a region of so many bytes; `lines` are its file's.

    `heap` is the system's heap that places its blocks so; "": it is a plan to generate.
    """
    own = (
        f"{heap} is the system's own heap: no code is written for it. It places its blocks "
        "as this plan does, by which it is replayed."
    )
    parts: list[Part] = [
        *paragraph(own if heap else ""),
        *chain(*(_describe_level(one, region, depth) for depth, one in enumerate(plan.chain()))),
        Heading("The plan file"),
        Copyable("plan-text", lines),
    ]
    return Section("plan", "The plan", parts, "Plan", is_folded=True)


def plan_file_section(plan_file: PlanFile, region: int | None) -> Section:
    """The plan of a file."""
    return plan_section(plan_file.plan, region, plan_text(plan_file).splitlines(), plan_file.heap)


def _describe_level(plan: Plan, region: int | None, depth: int) -> list[Part]:
    info = info_of(plan)
    role = "Shared allocator, for requests that no pool serves" if depth else "Allocator"
    columns: list[Column[_engine.Tunable]] = [
        Column(page="tunable", shown=lambda one: one.name),
        Column(page="value", shown=lambda one: plan.scalars.get(one.name, one.standard)),
        Column(page="meaning", shown=lambda one: one.meaning),
    ]
    scalars, pools = [one for one in info.tunables if one.kind == "scalar"], plan.filled_pools
    parts: list[Part] = [
        Heading(f"{role}: {plan.allocator}"),
        Line(f"{info.title[:1].upper()}{info.title[1:]}. {info.origin}"),
        Table(columns, scalars, look="cards numbers texts"),
    ]
    if pools and depth == 0 and region is not None:
        caption = "The region to scale, from its start: control, the pools, the shared heap."
        parts.append(Strip([*_divide_region(plan, region)], caption))
    table = Table(_pool_columns(plan, region), [*pools, None], caption="Pools.")
    return [*parts, table] if pools else parts


def _pool_columns(plan: Plan, region: int | None) -> list[Column[Pool | None]]:
    """The figures of a pool, and under them those of all, which None stands for."""

    def sum_up(figure: Callable[[Pool], int]) -> Callable[[Pool | None], int]:
        return lambda one: figure(one) if one else sum(map(figure, plan.filled_pools))

    taken = sum_up(lambda pool: _bytes_of(plan, pool))
    return [
        Column(page="size", shown=lambda one: size(one.size) if one else "together"),
        Column(page=mark_up("blocks {}", term("n")), shown=sum_up(lambda pool: pool.count)),
        Column(page="bytes", shown=taken, told=size),
        Column(
            page="of the region",
            shown=lambda one: (percent(taken(one) / region) if region else None) if one else "",
        ),
        Column(page="serves", shown=lambda one: _describe_requests(plan, one) if one else ""),
    ]


def _bytes_of(plan: Plan, pool: Pool) -> int:
    """The bytes of a pool in the region."""
    return -(-pool.size // plan.alignment) * plan.alignment * pool.count


def _describe_requests(plan: Plan, pool: Pool) -> str:
    """The requests that the pool serves, by the allocator's own choice."""
    if not pool.is_exact:
        return "what fits"
    return (
        "requests that round up to this size" if plan.allocator == BUDGETED else "exactly this size"
    )


def _divide_region(plan: Plan, region: int) -> Iterator[Piece]:
    """The region from its start: control structures, the pools in order, the rest."""
    control = plan.engine().pools[0][-1]  # the first pool's base
    pools = [(f"{count(pool.size)} B", _bytes_of(plan, pool)) for pool in plan.filled_pools]
    rest = region - control - sum(taken for _, taken in pools)
    for name, taken in (("control", control), *pools, ("shared", rest)):
        if taken > 0:
            look = "rest" if name in ("control", "shared") else "pool"
            yield Piece(name, taken, look, name if taken >= NARROWEST_LABEL * region else "")
