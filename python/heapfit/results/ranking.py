# SPDX-License-Identifier: Apache-2.0
"""Ranked rows: what `compare` and `fit` print of one trace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from heapfit import _engine
from heapfit.bounds.trace_bounds import ComparisonBounds
from heapfit.comparison.candidate import NotApplicable
from heapfit.comparison.comparison import Comparison
from heapfit.comparison.costs.measures import Measures
from heapfit.comparison.incumbents.heaps import SIMULATED
from heapfit.comparison.row import Row, energies_over_least
from heapfit.comparison.work import Work
from heapfit.design.placement.tailored_plans import ALLOCATOR, describe_layout, layout_name
from heapfit.plan.energy import Sram, load_sram
from heapfit.plan.plan import plan_table
from heapfit.results.parts import Column, Fields, Line, Part, Table

SIZED_LIMIT = (
    "A region of sized is at most 2,097,151 times its alignment: 8 MiB at 4, 16 MiB at 8. Both "
    "links and the size of a free chunk of 8 B stand in its two words."
)
NEEDS_SIZE = "# sized deallocation: the program passes the size when it frees or resizes."
IN_PIECES = "+ blocks in pieces: for callers that follow a block from piece to piece."


@dataclass(frozen=True, slots=True)
class _RankedRow:
    """A row, and its energy in relation to the others."""

    row: Row
    energy: float | None  # over the least


def _adapt_to_row(*columns: Column[Row]) -> tuple[Column[_RankedRow], ...]:
    return tuple(column.adapt(lambda one: one.row) for column in columns)


def _replay_column(field: str) -> Column[Row]:
    def value(row: Row) -> object:
        replay: _engine.ReplayResult | None = row.replay
        return None if replay is None else getattr(replay, field)

    return Column(field, value=value)


def _show_region(row: Row) -> object:
    """R_safe, or its lower bound where the row cannot win and was not searched further."""
    at_least = row.r_safe_at_least
    return row.r_safe if at_least is None else f">= {at_least:,}"


_FOOTPRINT: Column[Row] = Column("footprint", "high-water mark")
_COLUMNS = (
    *_adapt_to_row(
        Column("name", "candidate", shown=lambda row: row.name + marks_of(row)),
        Column("reason"),
        Column("r_min", "R_min"),
        Column("r_safe", "R_safe", shown=_show_region),
        Column("r_safe_at_least"),
        Column("step", "step", shown=lambda row: row.step or None),
        Column("is_exhaustive"),
        Column("alignment"),
        Column("over_u_max", "over U_max"),
        Column("accesses_per_operation", "accesses a call"),
        _replay_column("loads"),
        _replay_column("stores"),
    ),
    Column("energy_over_least", "energy", lambda one: one.energy),
    *_adapt_to_row(_FOOTPRINT.with_heading("")),
)
_ENDS = _adapt_to_row(
    Column("trained_on_this_trace"),
    Column("is_cut_to_trace"),
    Column("is_searched_further"),
    Column("simulated", value=lambda row: None if row.heap.is_ours else row.heap.title),
    Column("notes"),
    Column("tolerance", value=lambda row: row.heap.tolerance),  # percent of R
    Column("plan", value=lambda row: plan_table(row.plan)),
)
NOT_APPLICABLE: tuple[Column[NotApplicable], ...] = (Column("name"), Column("why"))


def ranking(comparison: Comparison, sram: Sram | None = None) -> Iterator[Part]:
    """The table, what its figures mean, and what was skipped."""
    yield from ranking_table(comparison, sram)
    yield from explain_ranking(comparison)


def ranking_table(comparison: Comparison, sram: Sram | None = None) -> Iterator[Part]:
    """The table of ranked rows, without explanations."""
    rows = _add_energies(comparison, sram)
    further = [one for one in rows if one.row.is_searched_further]
    usual = [one for one in rows if not one.row.is_searched_further]
    free = [one for one in usual if not one.row.is_cut_to_trace]
    cut = [one for one in usual if one.row.is_cut_to_trace]
    yield Fields({"u_max": comparison.u_max, "base_alignment": comparison.base_alignment})
    columns = (
        *_COLUMNS,
        *_alignment_column(comparison),
        *_list_measures(comparison),
        *_ENDS,
    )
    yield Table(columns, rows, "rows", shown=free or cut or further)
    if free and cut:
        yield Line(
            "Trace-specific (if every run were identical): blocks counted on this recording."
        )
        yield Table(columns, (), shown=cut)
    if usual and further:
        yield Line("Searched further; not considered for the verdict:")
        yield Table(columns, (), shown=further)
    yield Fields({"bounds": comparison.bounds})


def _alignment_column(comparison: Comparison) -> tuple[Column[_RankedRow], ...]:
    """A column of alignments for the table alone, where the rows differ in them."""
    is_one = len({row.alignment for row in comparison.rows}) == 1
    return (
        () if is_one else _adapt_to_row(Column(heading="aligned", shown=lambda row: row.alignment))
    )


def _list_measures(comparison: Comparison) -> Iterator[Column[_RankedRow]]:
    """The measures of each row that no other column has, where they are known, for the JSON."""
    if comparison.measures:
        unbeaten = comparison.unbeaten
        for name in ("time", "longest", "size"):
            measure: Column[Measures] = Column(name)
            yield measure.adapt(lambda one: comparison.measures[one.row.name])
        yield Column("is_unbeaten", value=lambda one: one.row.name in unbeaten)


def explain_ranking(comparison: Comparison, work: Work | None = None) -> Iterator[Part]:
    """What the figures and marks mean, the bounds, and what was skipped.

    `work` is given where more was done than the comparison.
    """
    yield Line(
        f"Regions in bytes, aligned to {comparison.base_alignment}; U_max (peak of live bytes): "
        f"{comparison.u_max:,}."
    )
    yield Line("R_min: the smallest region that serves the trace.")
    yield Line("R_safe: the smallest region above every one that failed.")
    if not _alignment_column(comparison) and comparison.rows:
        yield Line(f"Every block is aligned to {comparison.rows[0].alignment} B.")
    yield Fields({"bounds": comparison.bounds, "work": _work(comparison, work or comparison.work)})
    if comparison.bounds is not None:
        yield from map(Line, _describe_bounds(comparison.bounds))
    yield from map(Line, _explain_marks(comparison.rows))
    yield from (Line(f"{row.name}: {note}.") for row in comparison.rows for note in row.notes)
    yield from inapplicable_parts(comparison.not_applicable)


def _work(comparison: Comparison, work: Work) -> dict[str, object]:
    """The work of a comparison by its purpose, and relative to the events of the trace."""
    events = max(comparison.trace.events, 1)
    return asdict(work) | {"events": work.events, "over_trace": round(work.events / events, 1)}


def inapplicable_parts(not_applicable: Sequence[NotApplicable]) -> Iterator[Part]:
    """The candidates that were not tried, and why."""
    yield Table(NOT_APPLICABLE, not_applicable, "not_applicable")
    for one in not_applicable:
        yield Line(f"{one.name} skipped: {one.why}.")


def _add_energies(comparison: Comparison, sram: Sram | None) -> list[_RankedRow]:
    energies = energies_over_least(comparison.rows, sram or load_sram())
    return [_RankedRow(*both) for both in zip(comparison.rows, energies, strict=True)]


def layout_note(row: Row) -> str | None:
    """The layout that a row named `tailored` took; None for the standard one, and for others."""
    name = layout_name(row.plan) if row.name == ALLOCATOR else None
    return None if name in (None, ALLOCATOR) else f"{row.name}: laid out as {name}, the least"


def marks_of(row: Row) -> str:
    """The marks after a row's name or figure, which `_explain_marks` explains."""
    special = "+" * row.is_in_pieces + "#" * row.needs_size + "^" * (not row.heap.is_ours)
    return special + ("*" if row.trained_on_this_trace else "")


def _describe_bounds(bounds: ComparisonBounds) -> Iterator[str]:
    yield (
        f"With all lifetimes known and no headers the trace fits in {bounds.packing:,} B. "
        f"With a pool for each size it takes {bounds.static:,} B."
    )
    worst = bounds.worst_case
    if worst is not None:
        yield f"Proven worst case of the first row: {worst.size:,} B in {worst.premise}."


def describe_system_heaps(rows: Sequence[Row]) -> Iterator[str]:
    """The line of the mark ^, with how near the regions are to the sources', if it occurs."""
    tolerances = [row.heap.tolerance for row in rows if row.heap.tolerance is not None]
    if tolerances:
        near = f"within {max(tolerances):g} % of" if any(tolerances) else "equal to"
        yield f"^ {SIMULATED}; R with control data, {near} the source's."


def _explain_marks(rows: Sequence[Row]) -> Iterator[str]:
    """What the columns mean, and the marks that occur."""
    yield from (f"{note}." for note in map(layout_note, rows) if note)
    plain = [row for row in rows if layout_name(row.plan) == row.name]
    if len(plain) > 1:
        layouts = "; ".join(f"{row.name}: {describe_layout(row.plan)}" for row in plain)
        yield f"{layouts}."
    yield "energy: of metadata accesses in an SRAM of the region's size; 1 is the best row."
    if any(row.trained_on_this_trace for row in rows):
        yield "* trained on this trace: another run may need more."
    if any(row.is_in_pieces for row in rows):
        yield IN_PIECES
    if any(row.needs_size for row in rows):
        yield NEEDS_SIZE
    yield from describe_system_heaps(rows)
    if any(row.step == 0 and row.r_safe is not None for row in rows):
        yield "step -: no search needed; the region follows from the plan or from one replay."
    if any(row.step == _engine.REGION_UNIT for row in rows):
        yield f"step {_engine.REGION_UNIT}: every region from 0.9 R_min to above R_safe was tried."
    if not all(row.is_exhaustive for row in rows):
        found = f"step above {_engine.REGION_UNIT}: R_safe is the smallest found"
        yield f"{found}; compare --exact tries every region."
    if any(row.r_safe_at_least is not None for row in rows):
        yield "R_safe >=: cannot win, so its region was not searched further."
    unserved = [row for row in rows if row.r_safe is None and row.r_safe_at_least is None]
    if unserved:
        yield "R_safe -: none found; regions up to 4 GiB were tried."
    if any(row.needs_size for row in unserved):
        yield SIZED_LIMIT
