# SPDX-License-Identifier: Apache-2.0
"""The fitted heap against the incumbent: the verdict, both heaps, and each recording."""

from __future__ import annotations

from heapfit.comparison.incumbents.needs import Permanent
from heapfit.comparison.incumbents.replacement import HeapCost, IncumbentVerdict, Pair
from heapfit.drawing.number_text import count, rate, size, term
from heapfit.drawing.parts import (
    Column,
    Fields,
    Group,
    Line,
    Part,
    Section,
    Table,
    hide_unless,
    which_hold,
)
from heapfit.plan.quantities import format_share

_UNKNOWN = "not measured"


def incumbent_parts(today: IncumbentVerdict) -> list[Part]:
    """The comparison with the incumbent heap, its verdict first."""
    unwritten = "No code is written without --code."
    return [
        *map(Line, [today.sentence(), *which_hold((today.is_kept, unwritten)), ""]),
        Group("now" if today.is_known else "baseline", _comparison_parts(today)),
        Line(""),
    ]


def _comparison_parts(today: IncumbentVerdict) -> list[Part]:
    heap, region, permanent = today.heap, today.costs[0].region, today.permanent
    several = len(today.pairs) > 1
    runs = f"all {len(today.pairs)} recordings" if several else "the recording"
    fields = {
        "heap": heap.name,
        "is_known": today.is_known,
        "version": heap.version,
        "is_kept": today.is_kept,
        "is_foretold": today.is_foretold,
        "sentence": today.sentence(),
        "setting": heap.setting,
        "set_to": None if region is None else heap.set_to(region),
        "saved": today.saved,
        "saved_with_margins": today.saved_with_margins,
        "saved_in_longer_runs": today.lasting,
        "permanent": permanent,
    }
    return [
        Fields(fields),
        Table(_cost_columns(today), today.costs, "heaps"),
        Line(
            f"RAM and ROM in bytes; RAM for {runs}, without margin and with. Sources: docs/now.md."
        ),
        *hide_unless(several, [Line(""), Table(_pair_columns(today), today.pairs, "pairs")]),
        *hide_unless(False, [Table(_pair_columns(today), today.halves, "halves")]),
        *([] if permanent is None else [Line(_describe_permanent(permanent, today))]),
    ]


def incumbent_section(today: IncumbentVerdict, *, is_kept: bool) -> Section | None:
    """The section of a page, where the heap is known or kept; `is_kept`: nothing is generated."""
    if not (today.is_known or today.is_kept):
        return None
    unwritten = (
        " No code was written (`--code` writes it). The page below shows the heap that is kept, "
        "beside the candidates."
    )
    costs = (
        "RAM for all recordings, without margin; code and instructions where they were measured."
    )
    pairs = "Each recording in both heaps; learned plans were made without it."
    parts: list[Part] = [
        Line(f"{today.sentence()}{unwritten if is_kept else ''}"),
        Table(_cost_columns(today), today.costs, caption=costs),
        Table(_pair_columns(today), today.pairs, caption=pairs),
    ]
    title = "Your incumbent heap" if today.is_known else "The heap that does"
    return Section("today", title, parts, "")


def _cost_columns(today: IncumbentVerdict) -> tuple[Column[HeapCost], ...]:
    def mark_incumbent(cost: HeapCost) -> str:
        is_incumbent = today.is_known and cost is today.costs[0]
        return f"{cost.name} (incumbent)" if is_incumbent else cost.name

    return (
        Column("name", "heap", shown=mark_incumbent, page=""),
        Column(page="heap", shown=lambda one: one.name),
        Column("memory", "RAM", told=size),
        Column("region", "with margin", page=""),
        Column(
            "code", "ROM", shown=lambda one: _UNKNOWN if one.code is None else one.code, page=""
        ),
        Column(page="code", shown=lambda one: one.code, told=count),
        Column(
            "instructions",
            "instructions/call",
            shown=lambda one: _UNKNOWN if one.instructions is None else round(one.instructions),
            page="",
        ),
        Column(page="instructions a call", shown=lambda one: one.instructions, told=rate),
    )


def _pair_columns(today: IncumbentVerdict) -> tuple[Column[Pair], ...]:
    now, fitted = today.costs
    return (
        Column("name", "recording"),
        Column("u_max", "U_max", page=term("u-max"), told=size),
        Column("now", now.name, told=size),
        Column("fitted", fitted.name, told=size),
        Column(
            "saved",
            "saved",
            shown=lambda one: None if one.saved is None else format_share(one.saved),
            page="",
        ),
    )


def _describe_permanent(one: Permanent, today: IncumbentVerdict) -> str:
    runs = "the recording" if len(today.pairs) == 1 else "every recording"
    sentence = (
        f"Never freed: {len(one.objects)} of the first requests of {runs}, {one.size:,} B. As "
        f"static memory they take {one.static:,} B, and {today.heap.name}"
    )
    if one.saved is None:
        return f"{sentence} then serves the rest in no region."
    change = "less" if one.saved >= 0 else "more"
    return f"{sentence} and they together {abs(one.saved):,} B {change} than before."
