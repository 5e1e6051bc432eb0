# SPDX-License-Identifier: Apache-2.0
"""Every plan that was measured on a recording, ranked and drawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf

from heapfit.comparison.case import ReportCase
from heapfit.comparison.comparison import Comparison, with_measures
from heapfit.comparison.margin import heap_size
from heapfit.comparison.row import Row
from heapfit.drawing.number_text import count, known_size, mark_up, rate, ratio, size, term
from heapfit.drawing.parts import (
    Bullets,
    Cell,
    Column,
    Details,
    Heading,
    Line,
    Part,
    Section,
    Table,
    paragraph,
)
from heapfit.results.plugins import plugin_parts
from heapfit.results.sections.candidate_charts import footprint_chart, fragmentation_chart

_OPEN = 5  # rows; the others are folded


def candidates_section(case: ReportCase, verdict: str = "") -> Section:
    """All rows of the case's comparison: the winner, others, then those cut to this recording."""
    comparison, winner = with_measures(case.comparison, case.shown), case.winner
    rows: list[Row] = sorted(
        [*comparison.rows, *comparison.plugins],
        key=lambda row: (
            row is not winner,
            row.is_cut_to_trace,
            row.r_safe is None,
            _with_margin(row) or row.r_safe or inf,
        ),
    )
    folded = [row for row in rows[_OPEN:] if isinstance(row, Row)]
    opened = rows[:_OPEN] + [row for row in rows[_OPEN:] if not isinstance(row, Row)]  # asked for
    words = mark_up(
        "Each candidate replayed the whole trace, event by event, with the code that ships. "
        "Regions begin at a multiple of {}. Rows marked <i>trace-specific</i> have pools counted "
        "on this recording: another run may run out of them. Marked <i>none beats it</i>: no other "
        "is as good in memory, accesses, energy, instructions, longest call and code.",
        size(comparison.base_alignment),
    )
    pruned = "≥: it cannot win, so its region was not searched further (--all does)."
    skipped = [(one.name, one.why) for one in comparison.not_applicable]
    left: list[Part] = [
        *([_rank(folded, winner, comparison)] if folded else []),
        *([Heading("Skipped")] if skipped else []),
        *([Bullets(skipped)] if skipped else []),
    ]
    parts: list[Part] = [
        *paragraph(verdict),
        Line(words),
        _rank(opened, winner, comparison),
        *paragraph(pruned if any(row.r_safe_at_least for row in rows) else ""),
        *([Details(f"{len(folded)} more, and what was skipped", left)] if left else []),
        *(
            one
            for one in plugin_parts([(row.name, row) for row in comparison.plugins])
            if isinstance(one, Line)
        ),
    ]
    return Section("candidates", "The choice", parts, "Candidates")


def _rank(rows: Sequence[Row], winner: Row, measured: Comparison) -> Table[Row]:
    unbeaten, times = measured.unbeaten, {name: one.time for name, one in measured.measures.items()}
    columns: list[Column[Row]] = [
        Column(page="candidate", shown=lambda row: _name_row(row, winner, unbeaten)),
        Column(page=term("r-min"), shown=_least_region),
        Column(page=term("r-safe"), shown=_safe_region),
        Column(page="with its margin", shown=_with_margin, told=known_size),
        Column(page=term("over"), shown=_describe_over_peak),
        Column(page=term("accesses-each"), shown=lambda row: row.accesses_per_operation, told=rate),
        Column(
            page=term("moved"),
            shown=lambda row: row.replay and row.replay.payload_bytes,
            told=known_size,
        ),
        Column(
            page=term("internal"),
            shown=lambda row: _fragmentation(row, "internal_peak"),
            told=known_size,
        ),
        Column(
            page=term("external"),
            shown=lambda row: _fragmentation(row, "external_peak"),
            told=known_size,
        ),
        Column(page="instructions a call", shown=lambda row: count(times.get(row.name))),
        Column(
            page=term("trained"), shown=lambda row: "yes" if row.trained_on_this_trace else "no"
        ),
    ]
    lead = next((row for row in rows if row.name == winner.name), None)
    return Table(
        columns,
        rows,
        caption=mark_up(
            "Ranked by {} with its margin, a plug-in without one; then by accesses.", term("r-safe")
        ),
        lead=lead,
    )


def _name_row(row: Row, winner: Row, unbeaten: Collection[str]) -> Cell:
    """The name and its reason, marked if it is chosen, cut to the recording, or beaten by none."""
    special = "none beats it" if row.name in unbeaten else ""
    special = "trace-specific" if row.is_cut_to_trace else special
    return Cell(row.name, (row.reason,), "chosen" if row.name == winner.name else special)


def _least_region(row: Row) -> str | None:
    """R_min; None where it was not looked for, as of a heap of which R_safe alone is needed."""
    return size(row.r_min) if row.r_min or not (row.r_safe or row.r_safe_at_least) else None


def _safe_region(row: Row) -> str:
    """The region, or its lower bound where it cannot win: no heap is below the peak."""
    least = row.r_safe_at_least
    return size(row.r_safe) if least is None else f"≥ {size(max(least, row.u_max))}"


def _with_margin(row: Row) -> int | None:
    """Bytes of the heap with its kind's margin; None without a need, and for a plug-in."""
    needed = row.needed if isinstance(row, Row) else None
    return heap_size(needed, row.known).region if needed else None


def _describe_over_peak(row: Row) -> str:
    least = row.r_safe_at_least
    return ratio(row.over_u_max) if least is None else f"≥ {ratio(max(least / row.u_max, 1.0))}"


def _fragmentation(row: Row, field: str) -> int | None:
    """The highest of a fragmentation; None if the blocks were not looked at over time."""
    is_known = isinstance(row, Row) and row.replay and len(row.replay.series["event"]) > 0
    return getattr(row.replay, field) if is_known else None


def heap_parts(case: ReportCase) -> list[Part]:
    """The chosen heap over time."""
    profile, winner = case.shown.profile, case.winner
    return [
        Heading("Live bytes and footprint"),
        footprint_chart(profile, winner),
        Heading("Fragmentation"),
        fragmentation_chart(profile, winner),
    ]
