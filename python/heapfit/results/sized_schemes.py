# SPDX-License-Identifier: Apache-2.0
"""The least memory of each scheme that admits a share of offered traffic; and their page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from heapfit.drawing.chart import COLOURS, Trace, line_with_marks
from heapfit.drawing.document import Document
from heapfit.drawing.number_text import known_size, size
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, object_of
from heapfit.plan.plan import plan_table
from heapfit.plan.quantities import format_count, format_share
from heapfit.results.sizing import BYTES_HOVER, memory_chart, sizing_page
from heapfit.sizing.from_traffic import SizedScheme, TrafficSizing

_DASHES = ("solid", "dot", "dash")  # to distinguish curves of the same colour


def _describe_scheme(sized: SizedScheme) -> str:
    """What a scheme is made of, in words."""
    if sized.scheme is None:
        return sized.why_not
    plan, scalars = sized.scheme.plan, sized.scheme.plan.scalars
    for count, each in (("blocks", "block_size"), ("partitions", "partition_size")):
        if count in scalars:
            return f"{scalars[count]:,} x {scalars[each]:,} B"
    if plan.filled_pools:
        blocks = sum(pool.count for pool in plan.pools)
        return f"{format_count(len(plan.filled_pools), 'pool')}, {format_count(blocks, 'block')}"
    return "one heap"


_COLUMNS: tuple[Column[SizedScheme], ...] = (
    Column("scheme", "scheme", lambda sized: sized.name),
    Column("admission"),
    Column("memory", "memory", told=known_size),
    Column(
        "lowest",
        "from",
        lambda sized: None if sized.memory is None else sized.lowest,
        lambda sized: sized.lowest if sized.unseen else None,
    ),
    Column(
        "highest",
        "to",
        lambda sized: None if sized.memory is None else sized.highest,
        lambda sized: sized.highest if sized.unseen else None,
    ),
    Column(heading="made of", shown=_describe_scheme),
    Column(
        "reached",
        "refused",
        lambda sized: sized.reached.mean,
        lambda sized: None if sized.memory is None else format_share(1 - sized.reached.mean),
    ),
    Column("half_width", value=lambda sized: sized.reached.half_width),
    Column(
        "unseen",
        "hold-out",
        lambda sized: None if sized.unseen is None else sized.unseen.mean,
        lambda sized: None if sized.unseen is None else format_share(1 - sized.unseen.mean),
    ),
    Column(
        "unseen_half_width",
        value=lambda sized: None if sized.unseen is None else sized.unseen.half_width,
    ),
    Column("exact", value=lambda sized: sized.is_exact),
    Column("plan", value=lambda sized: sized.scheme and plan_table(sized.scheme.plan)),
    Column("why_not"),
)


def schemes_table(sizing: TrafficSizing, path: Path) -> list[Part]:
    """Each kind of scheme, least memory first."""
    return [
        Fields({"traffic": path, "admission": sizing.aim.admission, "seed": sizing.aim.seed}),
        Line(_name_least(sizing)),
        Table(_COLUMNS, sizing.schemes, "schemes"),
        Fields({"curve": [object_of(_COLUMNS, sized) for sized in sizing.curve]}),
        Line(
            "memory: bytes, bookkeeping included; from, to: its 95 % confidence interval. "
            "Without one it is exact (Erlang-B for fixed_pool, Kaufman-Roberts for chained_pool)."
        ),
        Line(
            f"hold-out: share refused in {sizing.aim.judged} other runs, which took no part in "
            "the sizing."
        ),
    ]


def schemes_page(sizing: TrafficSizing, subject: str, command: str) -> Document:
    """The page: memory against the chance to run out, and the schemes."""
    names = list(dict.fromkeys(one.name for one in sizing.curve))
    chart = memory_chart(
        "Memory of each scheme over the share of requests out of memory.",
        [_draw_scheme(sizing.curve, name, number) for number, name in enumerate(names)],
        "share out of memory",
        "Bars are intervals of 95 %; points without bars are exact: Erlang-B for fixed_pool, "
        "Kaufman and Roberts for chained_pool.",
    )
    return sizing_page(
        subject,
        (chart, Table(_COLUMNS, sizing.schemes)),
        name=f"sizing for {subject}",
        aim=(sizing.aim.admission, "bytes"),
        verdict=_name_least(sizing),
        command=command,
    )


def _name_least(sizing: TrafficSizing) -> str:
    """The sentence that names the two schemes of least memory."""
    known = sorted((one.memory, one.name) for one in sizing.schemes if one.memory is not None)
    share = f"{sizing.aim.admission * 100:.10g} % of the bytes"
    if not known:
        return f"No scheme serves {share}."
    (memory, least), *others = known
    behind = [f"; {name} needs {size(more)}" for more, name in others[:1]]
    return f"{least} serves {share} in {size(memory)}{''.join(behind)}."


def _draw_scheme(curve: Sequence[SizedScheme], name: str, number: int) -> Trace:
    """The memory of one kind of scheme, with the interval where it was simulated."""
    known = [one for one in curve if one.name == name and one.memory is not None]
    memory = [one.memory or 0 for one in known]
    drawn = line_with_marks(
        name, [1 - one.admission for one in known], memory, COLOURS[number % len(COLOURS)]
    )
    drawn["line"]["dash"] = _DASHES[number // len(COLOURS) % len(_DASHES)]
    bars = {
        "array": [max(0, one.highest - y) for one, y in zip(known, memory, strict=True)],
        "arrayminus": [max(0, y - one.lowest) for one, y in zip(known, memory, strict=True)],
        "color": drawn["line"]["color"],
    }
    return drawn | {"error_y": bars} | BYTES_HOVER
