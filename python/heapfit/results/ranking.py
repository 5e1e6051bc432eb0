# SPDX-License-Identifier: Apache-2.0
"""Ranked rows: what `compare` and `fit` print of one trace."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from heapfit import _engine
from heapfit.bounds.trace_bounds import ComparisonBounds
from heapfit.comparison.candidate import NotApplicable
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.incumbents.heap_names import SIMULATED
from heapfit.comparison.row import Row, energies_over_least
from heapfit.comparison.work import Work
from heapfit.design.placement.tailored_plans import ALLOCATOR, describe_layout, layout_name
from heapfit.drawing.parts import Column, Fields, Line, Part, Table, columns, which_hold
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan import plan_table
from heapfit.plugin import PluginRow

SIZED_LIMIT = (
    "A region of sized is at most 2,097,151 times its alignment: 8 MiB at 4, 16 MiB at 8. Both "
    "links and the size of a free chunk of 8 B stand in its two words."
)


def _show_region(row: Row | PluginRow) -> object:
    """R_safe, or its lower bound where the row cannot win and was not searched further."""
    return row.r_safe if row.r_safe_at_least is None else f">= {row.r_safe_at_least:,}"


def _limit_to_ours(column: Column[Row]) -> Column[Any]:
    """A figure that rows of plug-ins do not have."""
    return replace(
        column, value=lambda row: None if isinstance(row, PluginRow) else column.figure(row)
    )


_NEEDS: tuple[Column[Any], ...] = (
    Column("name", "candidate", shown=lambda row: row.name + marks_of(row)),
    Column("is_plugin", value=lambda row: isinstance(row, PluginRow)),
    Column("reason"),
    Column("r_min", "R_min"),
    Column("r_safe", "R_safe", shown=_show_region),
    Column("r_safe_at_least"),
    Column("step", "step", shown=lambda row: row.step or None),
    _limit_to_ours(Column("is_exhaustive")),
    Column("alignment"),
    Column("over_u_max", "over U_max"),
    _limit_to_ours(Column("own")),
    Column("accesses_per_operation", "accesses"),
    Column("loads", value=lambda row: row.replay and row.replay.loads),
    Column("stores", value=lambda row: row.replay and row.replay.stores),
)
_ENDS: tuple[Column[Row], ...] = (
    *columns("trained_on_this_trace", "is_cut_to_trace", "is_searched_further"),
    Column("simulated", value=lambda row: None if row.heap.is_ours else row.heap.title),
    Column("notes"),
    Column("tolerance", value=lambda row: row.heap.tolerance),  # percent of R
    Column("plan", value=lambda row: plan_table(row.plan)),
)


def ranking(comparison: Comparison, sram: Sram | None = None) -> list[Part]:
    """The table, what its figures mean, and what was skipped."""
    return [*ranking_table(comparison, sram), *explain_ranking(comparison)]


def ranking_table(comparison: Comparison, sram: Sram | None = None) -> list[Part]:
    """The table of ranked rows, without explanations."""
    further = [row for row in comparison.rows if row.is_searched_further]
    usual = [row for row in comparison.rows if not row.is_searched_further]
    free = [row for row in usual if not row.is_cut_to_trace]
    cut = [row for row in usual if row.is_cut_to_trace]
    told = [*_list_columns(comparison, sram)]
    ranked: list[Any] = [*(free or cut or further), *comparison.plugins]
    if comparison.plugins:
        ranked.sort(key=lambda row: row.r_safe or math.inf)
    others = (
        (
            free and cut,
            "Trace-specific (if every run were identical): blocks counted on this recording.",
            cut,
        ),
        (usual and further, "Searched further; not considered for the verdict:", further),
    )
    return [
        Fields({"u_max": comparison.u_max, "base_alignment": comparison.base_alignment}),
        Table(told, [*comparison.rows, *comparison.plugins], "rows", shown=ranked),
        *(
            part
            for holds, title, rows in others
            if holds
            for part in (Line(title), Table(told, (), shown=rows))
        ),
        Fields({"bounds": comparison.bounds}),
    ]


def _list_columns(comparison: Comparison, sram: Sram | None) -> Iterator[Column[Any]]:
    """The figures of each row, with those that are relative to others or not always known."""
    rows = [*comparison.rows, *comparison.plugins]
    energies = energies_over_least(rows, sram or load_sram())
    energy_of = dict(zip([row.name for row in rows], energies, strict=True))
    yield from _NEEDS
    if comparison.measures:
        longest = {one.name: one.longest_accesses for one in comparison.plugins}
        longest |= {name: one.longest_accesses for name, one in comparison.measures.items()}
        yield Column("longest_accesses", "longest", lambda row: longest[row.name])
    yield Column("energy_over_least", "energy", lambda row: energy_of[row.name])
    yield Column("footprint")
    if not _has_one_alignment(comparison):
        yield Column(heading="aligned", shown=lambda row: row.alignment)
    if comparison.measures:
        unbeaten = comparison.unbeaten
        size: Column[Any] = Column("size", value=lambda costs: costs.flash)
        for measure in (*columns("time", "longest"), size):
            yield _limit_to_ours(measure.adapt(lambda row: comparison.measures[row.name]))
        yield Column("is_unbeaten", value=lambda row: row.name in unbeaten)
    yield from map(_limit_to_ours, _ENDS)


def _has_one_alignment(comparison: Comparison) -> bool:
    return len({row.alignment for row in [*comparison.rows, *comparison.plugins]}) == 1


def explain_ranking(
    comparison: Comparison, work: Work | None = None, events: int | None = None
) -> list[Part]:
    """What the figures and marks mean, the bounds, and what was skipped.

    `work` is given where more was done than the comparison, with the events of all recordings.
    """
    rows, done = comparison.rows, work or comparison.work
    times = done.events / max(events or comparison.trace.events, 1)
    over = {"events": done.events, "over_trace": round(times, 1)}
    own = ", ".join(f"{one.name} {one.own:,}" for one in rows if one.own)
    texts = [
        f"Regions in bytes, at a multiple of {comparison.base_alignment}; U_max (peak of live "
        f"bytes): {comparison.u_max:,}.",
        "R_min: the smallest region tried that serves the trace.",
        "R_safe: the smallest region tried above every one tried that failed.",
        *(
            f"Every block is aligned to {row.alignment} B."
            for row in rows[:1]
            if _has_one_alignment(comparison)
        ),
        *which_hold((own, f"Taken before any request, blocks of pools included: {own}.")),
        *([] if comparison.bounds is None else _describe_bounds(comparison.bounds)),
        *_explain_figures(rows, [*rows, *comparison.plugins]),
        *(f"{row.name}: {note}." for row in rows for note in row.notes),
    ]
    return [
        Fields({"work": asdict(done) | over}),
        *map(Line, texts),
        *inapplicable_parts(comparison.not_applicable),
    ]


def inapplicable_parts(not_applicable: Sequence[NotApplicable]) -> list[Part]:
    """The candidates that were not tried, and why."""
    return [
        Table(columns("name", "why"), not_applicable, "not_applicable"),
        *(Line(f"{one.name} skipped: {one.why}.") for one in not_applicable),
    ]


def layout_note(row: Row) -> str | None:
    """The layout that a row named `tailored` took; None for the standard one, and for others."""
    name = layout_name(row.plan) if row.name == ALLOCATOR else None
    return None if name in (None, ALLOCATOR) else f"{row.name}: as {name} of `fit --all`, the least"


def marks_of(row: Row | PluginRow) -> str:
    """The marks after a row's name or figure, which `explain_marks` explains."""
    if isinstance(row, PluginRow):
        return "#" * row.is_sized + "@" * (row.bits == 64)
    special = "+" * row.is_in_pieces + "#" * row.needs_size + "^" * (not row.heap.is_ours)
    return special + ("*" if row.trained_on_this_trace else "")


def _describe_bounds(bounds: ComparisonBounds) -> list[str]:
    worst = bounds.worst_case
    proven = "" if worst is None else f"{worst.size:,} B in {worst.premise}"
    return [
        f"With a pool for each size the trace takes {bounds.static:,} B.",
        *which_hold((proven, f"Proven worst case of the first row, tables included: {proven}.")),
    ]


def explain_marks(rows: Sequence[Row], every: Sequence[Row | PluginRow]) -> list[str]:
    """What the marks of the rows mean; of systems' heaps how near they are to the sources'.

    `every`: those of plug-ins, too.
    """
    largest = max((row.heap.tolerance or 0.0 for row in rows), default=0.0)
    sets = {row.heap.setting for row in rows if not (row.heap.is_ours or row.heap.unset)}
    marks = "".join(map(marks_of, every))
    near = f"within {largest:g} % of the source's" if largest else "each region as the source's"
    unset = dict.fromkeys(f"{row.name} {row.heap.unset:,}" for row in rows if row.heap.unset)
    return which_hold(
        ("*" in marks, "* trained on this trace: another run may need more."),
        ("+" in marks, "+ blocks in pieces: for callers that follow a block from piece to piece."),
        (
            "#" in marks,
            "# sized deallocation: the program passes the size when it frees or resizes.",
        ),
        (
            "@" in marks,
            "@ built for 64 bits: pointers twice as wide as others' (--pointer-bits 32).",
        ),
        (
            "^" in marks,
            f"^ {SIMULATED}, as on 32 bit; R is {' or '.join(sorted(sets)) or 'its memory'}, "
            f"{near}; accesses are those of heapfit's code for it.",
        ),
        (unset, f"R has more than what is set, by which `check` counts: {', '.join(unset)} B."),
    )


def _explain_figures(rows: Sequence[Row], every: Sequence[Row | PluginRow]) -> list[str]:
    """What the columns mean, and the marks that occur; `every`: plug-ins', too."""
    unit = _engine.REGION_UNIT
    plain = [row for row in rows if layout_name(row.plan) == row.name]
    layouts = "; ".join(f"{row.name}: {describe_layout(row.plan)}" for row in plain)
    unserved = [row for row in rows if row.r_safe is None and row.r_safe_at_least is None]
    return [
        *(f"{note}." for note in map(layout_note, rows) if note),
        *which_hold((len(plain) > 1, f"{layouts}.")),
        "accesses: loads and stores of metadata a call; longest: in one call.",
        "energy: of these accesses in an SRAM of the region's size; 1 is the best row.",
        *explain_marks(rows, every),
        *which_hold(
            (
                any(row.step == 0 and row.r_safe is not None for row in rows),
                "step -: no search needed; the region follows from the plan or from one replay.",
            ),
            (any(row.step == unit for row in every), f"step {unit}: all above R_safe were tried."),
            (
                any(row.step > unit for row in every),
                f"step above {unit}: some above R_safe were not tried; compare --exact tries all.",
            ),
            (
                any(row.r_safe_at_least is not None for row in rows),
                "R_safe >=: cannot win, so its region was not searched further.",
            ),
            (unserved, "R_safe -: none found; regions up to 4 GiB were tried."),
            (any(row.needs_size for row in unserved), SIZED_LIMIT),
        ),
    ]
