# SPDX-License-Identifier: Apache-2.0
"""Rows of plug-ins: what `heapfit compare --plugin` prints of allocators that are not ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from heapfit.plugin import PluginRow
from heapfit.plugin.faults import NOT_RUN
from heapfit.results.parts import Column, Line, Part, Table, paragraph

LabelledRow = tuple[str, PluginRow]  # of which trace
_SHOWN_STATICS = 4

_COLUMNS: tuple[Column[PluginRow], ...] = (
    Column("name", "plug-in"),
    Column("bits", "bits"),
    Column("is_sized", "frees by size", shown=lambda row: "yes" if row.is_sized else "no"),
    Column("r_min", "R_min"),
    Column("r_safe", "R_safe"),
    Column("step", "step", shown=lambda row: row.step or None),
    Column("alignment", "alignment"),
    Column("over_u_max", "over U_max"),
    Column("accesses_per_operation", "accesses/operation"),
    Column("loads"),
    Column("stores"),
    Column("payload_bytes"),
    Column("statics_bytes", "variables"),
    Column("statics", value=lambda row: dict(row.statics)),
    Column("footprint"),
    Column("events_replayed"),
    Column("attacks", value=lambda row: dict(row.attacks)),
    Column("extremes", value=lambda row: dict(row.extremes)),
    Column("misuse", value=lambda row: dict(row.misuse)),
    Column("faults", "faults", lambda row: list(map(str, row.faults)), lambda row: len(row.faults)),
)


def plugin_parts(rows: Sequence[LabelledRow]) -> Iterator[Part]:
    """A table of all plug-ins on all traces, then their variables and faults."""
    if not rows:
        return
    several = len({label for label, _ in rows}) > 1
    trace: Column[LabelledRow] = Column("trace", "trace" if several else "", lambda one: one[0])
    yield Line("")
    yield Table([*(column.adapt(_row_of) for column in _COLUMNS), trace], rows, "plugins")
    yield Line("variables: bytes a plug-in writes outside the region; they count in R.")
    for text in _explain_rows([row for _, row in rows]):
        yield from paragraph(text)


def _join_outcomes(outcomes: Mapping[str, str]) -> str:
    return "; ".join(f"{what}: {outcome}" for what, outcome in outcomes.items())


def _row_of(labelled: LabelledRow) -> PluginRow:
    return labelled[1]


def _explain_rows(rows: Sequence[PluginRow]) -> Iterator[str]:
    for one in {row.name: row for row in rows if row.statics}.values():
        largest = ", ".join(f"{name} {size}" for name, size in one.statics[:_SHOWN_STATICS])
        more = len(one.statics) - _SHOWN_STATICS
        yield f"{one.name}: {largest}" + (f" and {more} smaller ones." if more > 0 else ".")
    for one in {row.name: row for row in rows}.values():
        yield f"{one.name}, misused: {_join_outcomes(one.misuse)}."
        yield f"{one.name}, extreme requests: {_join_outcomes(one.extremes)}."
        left_out = [name for name, outcome in one.attacks.items() if outcome == NOT_RUN]
        if left_out:
            yield f"{one.name}, attacks not run: {', '.join(left_out)}."
    if any(row.bits != 32 for row in rows):
        yield "64 bits: pointers in headers are twice as large as on 32."
    if any(row.accesses_per_operation is None and not row.faults for row in rows):
        yield "accesses/operation -: not compiled here by gcc, so not counted."
    for row in rows:
        yield from (f"{row.name}: {fault}." for fault in row.faults)
        if row.r_min is None and not row.faults:
            yield (
                f"{row.name}: serves the trace in no region tried (does its plugin_init "
                f"take an alignment of {row.alignment}?)."
            )
